"""The System (a description), the State, and the Workspace that evaluates them.

system : particles, laws and constraints; never changes after it is built
state : t, q, v, active elements, and an integrator's history
workspace : every buffer and cache, one for each thread and system
assembly : sums of laws into energies, forces and stiffness; terms : one law on active elements
any_assembly : what all assemblies offer
contact : what can touch; contact_surfaces, contact_groups : its surfaces, and bodies by name
contact_choices : what a system adds to a contact, and joined ones
near_pairs : which pairs are near, and their gaps; contact_problems : what intersects, in words
contact_search : near pairs as terms of an assembly, and how far bodies can move
obstacles : exact spheres, capsules and boxes, and meshes, moved by scripts
intersections, untangling : tests on request; starts that are moved apart
contact_pairs : friction of a pair, and obstacles that turn
contact_terms : the laws of near pairs; contact_friction : their friction, held in a step
friction_coupling : how friction changes with the normal forces that it is held with
contact_assembly : sums of laws, contact and friction
projector : all constraints of a system by projection; reduction : its free coordinates
parameter_change : a system with other values of parameters, cheaply
tearing, inversion : which elements a state breaks, and which it turns inside out
plasticity : rest values that flow at the end of a step
members : table of the forces and strains of members
elements : V, f and K of single elements; the matrices M, P, S_i and E_j
building : masses of cells, prestressed rest lengths, joined bodies
copies : many copies of a system in one
relaxation : sums lowered particle by particle in a region; relaxation_kernels, relaxing :
    compiled sweeps
negative_curvature : a bound of it, from single elements; negative_parts : its compiled sums
gather_kernels : compiled sums in a fixed order
_arguments : checks what a System is built from; _notebook : a System as HTML
"""
