// The expert's step: implicit Euler of the hanging cloth, each step solved by Newton's method with CHOLMOD.
//
// usage: cholmod_cloth n h steps stiffness tolerance [positions [wait]]
//   stiffness : factor on all springs; 1 is soft, 100 stiff
//   tolerance : a step has converged when |g(y)| <= tolerance * |g(x + h v)|, g the gradient of the objective on the free particles
//   positions : file for the positions of all particles after the last step (doubles, x y z); "-" for none
//   wait : wait for a line on standard input before each step, so that another program can take its steps in between
// Set OMP_THREAD_LIMIT=1: CHOLMOD 3 opens regions of four OpenMP threads in each supernode, which cost more than they gain on two cores.
// Prints a first line on the library, a line for each step, and one on the end of the trajectory.
//
// Newton starts from x + h v. The true Hessian is tried first; if CHOLMOD finds that it is not positive definite, springs under
// compression lose their transverse stiffness. The line search halves the step until the objective falls enough (Armijo). The pattern is
// analysed and the places of all blocks are found once; the factor is supernodal, so that the dense BLAS does the work.
#include <cholmod.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" char* openblas_get_config();  // only OpenBLAS has it: with a plain BLAS this would be no yardstick
extern "C" int openblas_get_num_threads();

namespace {

constexpr double kGravity = 9.81, kClothMass = 0.2, kStructural = 1000.0, kShear = 300.0, kBending = 30.0;
constexpr double kArmijo = 1e-4;          // part of the expected decrease that a step must reach
constexpr double kRounding = 1e-14;       // of the objective: differences below it are noise
constexpr double kShortestStep = 1e-10;   // of the line search
constexpr int kMaxIterations = 50;        // of Newton's method in one step

using Vector = std::vector<double>;

struct Spring {
  int i, j;
  double k, rest;
  int column[3];  // where the columns of its coupling block begin among the values of the matrix; -1 if an end is fixed
  bool swapped;   // whether that block is in the rows of i and the columns of j
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double norm(const Vector& a) {
  double s = 0.0;
  for (double value : a) s += value * value;
  return std::sqrt(s);
}

class Cloth {
 public:
  Cloth(int n, double h, double stiffness) : h_(h), mass_(kClothMass / (double(n) * n)), free_(n * n), x(3 * n * n), v(3 * n * n, 0.0) {
    for (int p = 0; p < n * n; p++) {
      x[3 * p] = double(p / n) / (n - 1);
      x[3 * p + 2] = double(p % n) / (n - 1);
    }
    for (int row = 0; row < n; row++)
      for (int column = 0; column < n; column++) {
        auto join = [&](int r, int c, int r2, int c2, double k) {
          if (r2 < n && c < n && c2 < n) add_spring(n * r + c, n * r2 + c2, stiffness * k);
        };
        join(row, column, row + 1, column, kStructural);
        join(row, column, row, column + 1, kStructural);
        join(row, column, row + 1, column + 1, kShear);
        join(row, column + 1, row + 1, column, kShear);
        join(row, column, row + 2, column, kBending);
        join(row, column, row, column + 2, kBending);
      }
    for (int p = 0; p < n * n; p++) free_[p] = p == 0 || p == n - 1 ? -1 : unknowns_++;
    cholmod_start(&common_);
    common_.print = 0;
    common_.supernodal = CHOLMOD_SUPERNODAL;
    build_pattern();
    factor_ = cholmod_analyze(matrix_, &common_);
    right_ = cholmod_zeros(3 * unknowns_, 1, CHOLMOD_REAL, &common_);
  }

  ~Cloth() {
    cholmod_free_dense(&right_, &common_);
    cholmod_free_dense(&solution_, &common_);
    cholmod_free_dense(&work1_, &common_);
    cholmod_free_dense(&work2_, &common_);
    cholmod_free_factor(&factor_, &common_);
    cholmod_free_sparse(&matrix_, &common_);
    cholmod_finish(&common_);
  }

  struct Result {
    int iterations = 0, projections = 0;
    double ratio = 1.0;  // |g(y)| / |g(x + h v)| at the end
  };

  Result step(double tolerance) {
    Result result;
    const Vector start = x;
    prediction_ = x;
    for (size_t k = 0; k < x.size(); k++) prediction_[k] += h_ * v[k];  // fixed particles have v = 0
    Vector y = prediction_, trial = y;
    gradient(y);
    const double first = norm(gradient_);
    while (norm(gradient_) > tolerance * first && result.iterations < kMaxIterations) {
      result.iterations++;
      assemble(y, false);
      if (!factorise()) {
        result.projections++;
        assemble(y, true);
        if (!factorise()) break;
      }
      const double slope = solve(), value = objective(y);
      double length = 1.0;
      for (;; length /= 2) {
        move(y, length, trial);
        if (length <= kShortestStep || objective(trial) <= value + kArmijo * length * slope + kRounding * std::abs(value)) break;
      }
      y.swap(trial);
      gradient(y);
    }
    result.ratio = first > 0.0 ? norm(gradient_) / first : 0.0;
    for (size_t k = 0; k < x.size(); k++) v[k] = (y[k] - start[k]) / h_;
    x.swap(y);
    return result;
  }

  double kinetic() const {
    double s = 0.0;
    for (double value : v) s += value * value;
    return 0.5 * mass_ * s;
  }

  double potential(const Vector& y) const {
    double energy = 0.0;
    for (size_t k = 1; k < y.size(); k += 3) energy += kGravity * mass_ * y[k];
    for (const Spring& s : springs_) {
      double e[3];
      const double stretch = edge(s, y, e) - s.rest;
      energy += 0.5 * s.k * stretch * stretch;
    }
    return energy;
  }

 private:
  void add_spring(int i, int j, double k) {
    Spring s{i, j, k, 0.0, {-1, -1, -1}, false};
    double e[3];
    s.rest = edge(s, x, e);
    springs_.push_back(s);
  }

  // The vector from i to j; returns its length.
  static double edge(const Spring& s, const Vector& y, double* e) {
    for (int k = 0; k < 3; k++) e[k] = y[3 * s.j + k] - y[3 * s.i + k];
    return std::sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
  }

  // The lower triangle by columns. Those of free particle b begin with its diagonal block, followed by the blocks of its neighbours.
  void build_pattern() {
    std::vector<std::vector<int>> below(unknowns_);
    for (const Spring& s : springs_) {
      const int a = free_[s.i], b = free_[s.j];
      if (a >= 0 && b >= 0) below[std::min(a, b)].push_back(std::max(a, b));
    }
    size_t entries = 0;
    for (auto& list : below) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      entries += 6 + 9 * list.size();
    }
    matrix_ = cholmod_allocate_sparse(3 * unknowns_, 3 * unknowns_, entries, 1, 1, -1, CHOLMOD_REAL, &common_);
    int* first = static_cast<int*>(matrix_->p);
    int* row = static_cast<int*>(matrix_->i);
    first[0] = 0;
    for (int b = 0; b < unknowns_; b++)
      for (int q = 0; q < 3; q++) {
        int at = first[3 * b + q];
        for (int p = q; p < 3; p++) row[at++] = 3 * b + p;
        for (int a : below[b])
          for (int p = 0; p < 3; p++) row[at++] = 3 * a + p;
        first[3 * b + q + 1] = at;
      }
    std::fill_n(static_cast<double*>(matrix_->x), entries, 0.0);
    for (Spring& s : springs_) {
      const int a = free_[s.i], b = free_[s.j];
      if (a < 0 || b < 0) continue;
      s.swapped = a > b;
      const auto& list = below[std::min(a, b)];
      const int place = int(std::lower_bound(list.begin(), list.end(), std::max(a, b)) - list.begin());
      for (int q = 0; q < 3; q++) s.column[q] = first[3 * std::min(a, b) + q] + 3 - q + 3 * place;
    }
  }

  double objective(const Vector& y) const {
    double s = 0.0;
    for (size_t k = 0; k < y.size(); k++) s += (y[k] - prediction_[k]) * (y[k] - prediction_[k]);
    return 0.5 * mass_ / (h_ * h_) * s + potential(y);
  }

  void gradient(const Vector& y) {
    pull_.assign(y.size(), 0.0);
    for (const Spring& s : springs_) {
      double e[3];
      const double tension = s.k * (1.0 - s.rest / edge(s, y, e));
      for (int k = 0; k < 3; k++) {
        pull_[3 * s.i + k] += tension * e[k];
        pull_[3 * s.j + k] -= tension * e[k];
      }
    }
    gradient_.resize(3 * unknowns_);
    for (size_t p = 0; p < free_.size(); p++) {
      if (free_[p] < 0) continue;
      for (size_t k = 0; k < 3; k++)
        gradient_[3 * free_[p] + k] = mass_ / (h_ * h_) * (y[3 * p + k] - prediction_[3 * p + k]) - pull_[3 * p + k];
      gradient_[3 * free_[p] + 1] += kGravity * mass_;
    }
  }

  void assemble(const Vector& y, bool project) {
    double* value = static_cast<double*>(matrix_->x);
    const int* first = static_cast<int*>(matrix_->p);
    std::fill_n(value, first[3 * unknowns_], 0.0);
    for (int a = 0; a < 3 * unknowns_; a++) value[first[a]] = mass_ / (h_ * h_);
    for (const Spring& s : springs_) {
      double e[3];
      const double length = edge(s, y, e);
      double transverse = s.k * (1.0 - s.rest / length);
      if (project) transverse = std::max(transverse, 0.0);
      const double along = (s.k - transverse) / (length * length);
      for (int end : {free_[s.i], free_[s.j]})
        if (end >= 0)
          for (int q = 0; q < 3; q++)
            for (int p = q; p < 3; p++) value[first[3 * end + q] + p - q] += along * e[p] * e[q] + (p == q ? transverse : 0.0);
      if (s.column[0] >= 0)
        for (int q = 0; q < 3; q++)
          for (int p = 0; p < 3; p++) value[s.column[q] + p] -= along * e[p] * e[q] + (p == q ? transverse : 0.0);
    }
  }

  bool factorise() {
    cholmod_factorize(matrix_, factor_, &common_);
    return common_.status == CHOLMOD_OK && factor_->minor == factor_->n;
  }

  // Solve for the Newton direction; returns its slope.
  double solve() {
    double* b = static_cast<double*>(right_->x);
    for (size_t k = 0; k < gradient_.size(); k++) b[k] = -gradient_[k];
    cholmod_solve2(CHOLMOD_A, factor_, right_, nullptr, &solution_, nullptr, &work1_, &work2_, &common_);
    const double* d = static_cast<double*>(solution_->x);
    double slope = 0.0;
    for (size_t k = 0; k < gradient_.size(); k++) slope += d[k] * gradient_[k];
    return slope;
  }

  void move(const Vector& y, double length, Vector& out) const {
    const double* d = static_cast<double*>(solution_->x);
    for (size_t p = 0; p < free_.size(); p++)
      for (size_t k = 0; k < 3; k++) out[3 * p + k] = y[3 * p + k] + (free_[p] < 0 ? 0.0 : length * d[3 * free_[p] + k]);
  }

  double h_, mass_;
  std::vector<int> free_;  // number of each particle among the free ones, -1 if it is fixed
  int unknowns_ = 0;       // free particles
  std::vector<Spring> springs_;
  Vector prediction_, gradient_, pull_;
  cholmod_common common_;
  cholmod_sparse* matrix_ = nullptr;
  cholmod_factor* factor_ = nullptr;
  cholmod_dense *right_ = nullptr, *solution_ = nullptr, *work1_ = nullptr, *work2_ = nullptr;

 public:
  Vector x, v;
};

}  // namespace

int main(int count, char** words) {
  if (count < 6) {
    std::fprintf(stderr, "usage: cholmod_cloth n h steps stiffness tolerance [positions [wait]]\n");
    return 2;
  }
  const int n = std::atoi(words[1]), steps = std::atoi(words[3]);
  const double h = std::atof(words[2]), stiffness = std::atof(words[4]), tolerance = std::atof(words[5]);
  const char* file = count > 6 ? words[6] : "-";
  const bool waits = count > 7 && std::strcmp(words[7], "wait") == 0;
  // Keep freed memory, instead of returning the workspace of each factorisation to the system.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  Cloth cloth(n, h, stiffness);
  std::printf("cholmod %d.%d.%d threads %d blas %s\n", CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION,
              openblas_get_num_threads(), openblas_get_config());
  std::fflush(stdout);
  for (int step = 1; step <= steps; step++) {
    if (waits)
      for (int c = std::getchar(); c != '\n'; c = std::getchar())
        if (c == EOF) return 1;
    const double begun = seconds_now();
    const Cloth::Result result = cloth.step(tolerance);
    const double taken = seconds_now() - begun;
    std::printf("step %d seconds %.6f newton %d projections %d ratio %.3e\n", step, taken, result.iterations, result.projections, result.ratio);
    std::fflush(stdout);
  }
  double lowest = 0.0;
  for (size_t k = 1; k < cloth.x.size(); k += 3) lowest = std::min(lowest, cloth.x[k]);
  std::printf("end lowest %.9g kinetic %.9g potential %.9g\n", lowest, cloth.kinetic(), cloth.potential(cloth.x));
  if (std::strcmp(file, "-") != 0) {
    std::FILE* stream = std::fopen(file, "wb");
    const bool written = stream && std::fwrite(cloth.x.data(), sizeof(double), cloth.x.size(), stream) == cloth.x.size();
    if (!stream || std::fclose(stream) != 0 || !written) {
      std::fprintf(stderr, "cannot write %s\n", file);
      return 1;
    }
  }
}
