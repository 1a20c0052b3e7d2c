"""Tables as TOML, as the scenes of taut have it: lists of tables under double brackets."""

import json


def write_toml(tables):
    """Return tables as text; a list of dicts becomes [[key]], a dict [key]."""
    return "\n".join(_write_table(tables, ())).strip() + "\n"


def _write_table(table, path):
    lines, later = [], []
    for key, value in table.items():
        if _is_list_of_tables(value) or (isinstance(value, dict) and len(path) == 0):
            later.append((key, value))
        else:
            lines.append(f"{key} = {_write_value(value)}")
    for key, value in later:
        here = (*path, key)
        if isinstance(value, dict):
            lines += ["", f"[{'.'.join(here)}]", *_write_table(value, here)]
            continue
        for entry in value:
            lines += ["", f"[[{'.'.join(here)}]]", *_write_table(entry, here)]
    return lines


def _is_list_of_tables(value):
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _write_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_write_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_write_value(v) for v in value) + "]"
    return repr(value)
