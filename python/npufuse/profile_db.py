"""Reads the profiler's database as the text export that it stands for.

``python -m npufuse.profile_db DB FOLDER`` writes into FOLDER

    kernel_details.csv  a row for each task of the device, by start, with the
                        columns of the text export that the database can fill
    trace_view.json     the operators of the host with their call stacks, and the
                        arrows from them to the kernels; only if the database has them
    info.json           the name of the chip; only if the database has it

and prints one line of JSON: {"kernels", "ops", "arrows", "missing": [sentence, ...]}.
A table or a column that is absent is one sentence in "missing"; without TASK
there is nothing to read: one line on stderr, exit code 2. The database is opened read
only. Times are integer nanoseconds in it and stay exact.
"""
import csv
import json
import os
import sqlite3
import sys

# COMPUTE_TASK_INFO -> kernel_details; numbers of STRING_IDS.
TEXTS = (
    ("name", "Name"),
    ("opType", "Type"),
    ("opState", "OP State"),
    ("taskType", "Accelerator Core"),
    ("hf32Eligible", "HF32 Eligible"),
    ("inputShapes", "Input Shapes"),
    ("inputDataTypes", "Input Data Types"),
    ("inputFormats", "Input Formats"),
    ("outputShapes", "Output Shapes"),
    ("outputDataTypes", "Output Data Types"),
    ("outputFormats", "Output Formats"),
)
NUMBERS = (("blockNum", "Block Num"), ("blockDim", "Block Num"),
           ("mixBlockNum", "Mix Block Num"), ("mixBlockDim", "Mix Block Num"))
HEAD = ["Step Id", "Device_id", "Task ID", "Stream ID"]
TIMES = ["Start Time(us)", "Duration(us)"]
PMU_MAX = 200  # columns


class NotAProfile(Exception):
    """The database has no kernels."""


class Database:
    """The tables and columns of one database, and its texts.

    text(id) is the text of a number; what is no number is its own text.
    """

    def __init__(self, path):
        name = "file:%s?mode=ro" % path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        self.connection = sqlite3.connect(name, uri=True)
        self.connection.text_factory = lambda data: data.decode("utf-8", "replace")
        rows = self.connection.execute("select name from sqlite_master where type = 'table'")
        self.tables = {name: self.columns(name) for (name,) in rows.fetchall()}
        self.missing = []
        self.texts = {}
        if self.has("STRING_IDS", "id", "value"):
            self.texts = dict(self.connection.execute("select id, value from STRING_IDS"))

    def columns(self, table):
        rows = self.connection.execute('pragma table_info("%s")' % table.replace('"', '""'))
        return {row[1] for row in rows}

    def has(self, table, *columns):
        return table in self.tables and self.tables[table].issuperset(columns)

    def text(self, value):
        return self.texts.get(value, "") if isinstance(value, int) else (value or "")

    def rows(self, table, columns, order=""):
        names = ", ".join(columns)
        return self.connection.execute("select %s from %s %s" % (names, table, order))


def us(ns):
    """Nanoseconds to the decimal text of microseconds."""
    return "%d.%03d" % (ns // 1000, ns % 1000)


def steps_of(db):
    """[(first ns, last ns, id), ...] by start."""
    if not db.has("STEP_TIME", "id", "startNs", "endNs"):
        return []
    rows = db.rows("STEP_TIME", ("startNs", "endNs", "id"), "order by startNs")
    return [row for row in rows if None not in row]


class StepFinder:
    """The step of each time; times come in order."""

    def __init__(self, steps):
        self.steps, self.at = steps, 0

    def find(self, ns):
        while self.at < len(self.steps) and self.steps[self.at][1] < ns:
            self.at += 1
        inside = self.at < len(self.steps) and self.steps[self.at][0] <= ns
        return self.steps[self.at][2] if inside else ""


def counters(db):
    """(names, {task: {name: value}}) of TASK_PMU_INFO, its long form made wide."""
    if not db.has("TASK_PMU_INFO", "globalTaskId", "name", "value"):
        db.missing.append(
            "no TASK_PMU_INFO: no counters of the pipes; bounds come from shapes and durations")
        return [], {}
    names, found = {}, {}
    for task, name, value in db.rows("TASK_PMU_INFO", ("globalTaskId", "name", "value")):
        name = db.text(name)
        if name in names or len(names) < PMU_MAX:
            names.setdefault(name)
            found.setdefault(task, {})[name] = value
    return list(names), found


def compute_columns(db):
    """[(name in COMPUTE_TASK_INFO, column, is text), ...] of those that are there."""
    found = [(n, c, True) for n, c in TEXTS if db.has("COMPUTE_TASK_INFO", n)]
    for name, column in NUMBERS:
        if db.has("COMPUTE_TASK_INFO", name) and column not in [c for _, c, _ in found]:
            found.append((name, column, False))
    return found


def optional(db, name):
    return "t." + name if db.has("TASK", name) else "null"


def task_rows(db, columns):
    """Tasks with what they compute, by start; of a communication its own name."""
    parts = ["t.startNs", "t.endNs", optional(db, "deviceId"), optional(db, "streamId"),
             optional(db, "taskId"), optional(db, "connectionId"), "t.globalTaskId"]
    parts += ["c." + name for name, _, _ in columns]
    return db.connection.execute(
        "select %s from TASK t join COMPUTE_TASK_INFO c on c.globalTaskId = t.globalTaskId "
        "where t.startNs is not null and t.endNs is not null order by t.startNs, t.globalTaskId"
        % ", ".join(parts))


def communication_rows(db):
    """[(start ns, end ns, device, connection, name), ...]"""
    if not db.has("COMMUNICATION_OP", "startNs", "endNs", "opName"):
        return []
    device = "deviceId" if db.has("COMMUNICATION_OP", "deviceId") else "null"
    rows = db.rows("COMMUNICATION_OP", ("startNs", "endNs", device, "opName"), "order by startNs")
    return [row for row in rows if None not in row[:2]]


def write_kernels(db, path):
    """kernel_details.csv. Returns (kernels, [(connection, start ns, device, stream), ...])."""
    for table, needed in (("TASK", ("startNs", "endNs", "globalTaskId")),
                          ("COMPUTE_TASK_INFO", ("globalTaskId", "name"))):
        if not db.has(table, *needed):
            raise NotAProfile("it has no table %s with %s" % (table, ", ".join(needed)))
    columns = compute_columns(db)
    for name, column in TEXTS:
        if column not in [c for _, c, _ in columns]:
            db.missing.append("no column %s in COMPUTE_TASK_INFO" % name)
    pmu_names, pmu = counters(db)
    header = HEAD + [c for _, c, _ in columns] + TIMES + pmu_names
    launches, count = [], 0
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        steps = StepFinder(steps_of(db))
        for row in task_rows(db, columns):
            start, end, device, stream, task, connection, key = row[:7]
            cells = [steps.find(start), plain(device), plain(task), plain(stream)]
            cells += [db.text(v) if t else plain(v) for v, (_, _, t) in zip(row[7:], columns)]
            own = pmu.get(key, {})
            out.writerow(cells + [us(start), us(end - start)] +
                         [own.get(name, "N/A") for name in pmu_names])
            launches.append((connection, start, device, stream))
            count += 1
        write_communication(db, out, columns, len(pmu_names))
    return count, launches


def plain(value):
    return "N/A" if value is None else value


def write_communication(db, out, columns, pmu_count):
    for start, end, device, name in communication_rows(db):
        known = {"Name": db.text(name), "Type": db.text(name), "Accelerator Core": "COMMUNICATION"}
        cells = [known.get(column, "N/A") for _, column, _ in columns]
        out.writerow(["", plain(device), "N/A", "N/A"] + cells + [us(start), us(end - start)] +
                     ["N/A"] * pmu_count)


def call_stacks(db):
    """{id: "frame;frame"}, the innermost frame first."""
    if not db.has("PYTORCH_CALLCHAINS", "id", "stack"):
        return {}
    depth = "stackDepth" if db.has("PYTORCH_CALLCHAINS", "stackDepth") else "rowid"
    found = {}
    rows = db.rows("PYTORCH_CALLCHAINS", ("id", "stack"), "order by id, " + depth)
    for chain, stack in rows:
        found.setdefault(chain, []).append(db.text(stack))
    return {chain: ";\r\n".join(frames) for chain, frames in found.items()}


def operator_rows(db):
    """Operators of the host: (start ns, end ns, name, connection, chain, thread, sequence)."""
    if not db.has("PYTORCH_API", "startNs", "endNs", "name", "connectionId"):
        db.missing.append("no PYTORCH_API: no modules and no source lines")
        return []
    own = [n if db.has("PYTORCH_API", n) else "null"
           for n in ("callchainId", "globalTid", "sequenceNumber")]
    return db.rows("PYTORCH_API", ["startNs", "endNs", "name", "connectionId"] + own,
                   "order by startNs")


def connections(db):
    """{id of PYTORCH_API: {connection of a task, ...}}; None: they are the same numbers."""
    if not db.has("CONNECTION_IDS", "id", "connectionId"):
        return None
    found = {}
    for own, connection in db.rows("CONNECTION_IDS", ("id", "connectionId")):
        found.setdefault(own, []).append(connection)
    return found


class TraceWriter:
    """Writes a list of events, one a line."""

    def __init__(self, file):
        self.file, self.first = file, True
        self.file.write("[")

    def add(self, event):
        self.file.write("%s\n%s" % ("" if self.first else ",", json.dumps(event)))
        self.first = False

    def end(self):
        self.file.write("\n]\n")


def arrow(out, number, operator, kernel):
    start, thread = operator
    time, device, stream = kernel
    pid, lane = (1 << 20 | (device or 0)), stream if stream is not None else -1
    common = {"bp": "e", "name": "torch_to_npu", "id": number, "cat": "async_npu"}
    out.add(dict(common, ph="s", pid=0, tid=thread, ts=us(start)))
    out.add(dict(common, ph="f", pid=pid, tid=lane, ts=us(time)))
    return pid, lane


def write_trace(db, path, launches):
    """trace_view.json. Returns (operators, arrows)."""
    stacks, linked = call_stacks(db), connections(db)
    kernels = {}
    for connection, start, device, stream in launches:
        if connection is not None:
            kernels.setdefault(connection, []).append((start, device, stream))
    ops = arrows = 0
    lanes = {}
    with open(path, "w", encoding="utf-8") as file:
        out = TraceWriter(file)
        for start, end, name, connection, chain, thread, sequence in operator_rows(db):
            if start is None or end is None:
                continue
            args = {"Sequence number": -1 if sequence is None else sequence}
            if chain in stacks:
                args["Call stack"] = stacks[chain]
            out.add({"ph": "X", "cat": "cpu_op", "name": db.text(name), "pid": 0,
                     "tid": thread or 0, "ts": us(start), "dur": us(end - start), "args": args})
            ops += 1
            keys = [connection] if linked is None else linked.get(connection, ())
            for kernel in [k for key in keys for k in kernels.get(key, ())]:
                arrows += 1
                pid, lane = arrow(out, arrows, (start, thread or 0), kernel)
                lanes[pid, lane] = kernel
        for (pid, lane), (time, _, stream) in lanes.items():
            out.add({"ph": "X", "name": "", "pid": pid, "tid": lane, "ts": us(time), "dur": 0,
                     "args": {"Task Type": "lane", "Stream Id": lane}})
        out.end()
    if ops and not stacks:
        db.missing.append("no call stacks (PYTORCH_CALLCHAINS): no source lines; profile "
                          "with with_stack=True")
    if not ops:
        os.remove(path)
    return ops, arrows


def write_info(db, path):
    if not db.has("NPU_INFO", "name"):
        db.missing.append("no NPU_INFO: the chip is not known")
        return
    row = db.rows("NPU_INFO", ("name",)).fetchone()
    if row and row[0]:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"DeviceInfo": [{"name": db.text(row[0])}]}, file)


def convert(path, folder):
    """Writes the files; returns what the module prints."""
    db = Database(path)
    kernels, launches = write_kernels(db, os.path.join(folder, "kernel_details.csv"))
    ops, arrows = write_trace(db, os.path.join(folder, "trace_view.json"), launches)
    write_info(db, os.path.join(folder, "info.json"))
    return {"kernels": kernels, "ops": ops, "arrows": arrows, "missing": db.missing}


def main(arguments):
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m npufuse.profile_db DB FOLDER\n")
        return 2
    try:
        told = convert(*arguments)
    except (NotAProfile, sqlite3.Error, OSError) as error:
        sys.stderr.write("npufuse: cannot read '%s': %s\n" % (arguments[0], error))
        return 2
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
