"""Compacts the files of {day}, which must be over: spark-submit compact.py

It writes large files beside the small ones. An event that is in both counts once, so the
views are right at every moment, also if this job is stopped and run again. A second run after
the grace period deletes the files that the first one read.
"""

import time

from pyspark.sql import SparkSession

ROOT = "{root}/traj/v1"
DAY = "{day}"
GRACE_SECONDS = 7 * 24 * 3600
ROWS_PER_FILE = 2_000_000
VIEWS = """{views}"""
TABLES = {
    "events": ("select {event_columns} from events where date = '{day}'",
               ["host_id", "trace_id", "seq"]),
    "sessions": ("""select {session_columns} from session_rows
        left semi join segments
          on segments.host_id = session_rows.host_id
          and segments.trace_id = session_rows.trace_id
          and segments.segment = session_rows.first_seq
          and segments.revision = session_rows.revision
        where date = '{day}'""",
                 ["host_id", "trace_id", "first_seq"]),
}


def main():
    spark = SparkSession.builder.appName("traj-compact").getOrCreate()
    for statement in VIEWS.split(";\n"):
        if statement.strip():
            spark.sql(statement)
    for table, (query, position) in TABLES.items():
        compact(spark, table, query, position)


def compact(spark, table, query, position):
    path = spark._jvm.org.apache.hadoop.fs.Path
    folder = path(f"{ROOT}/{table}/date={DAY}")
    files = folder.getFileSystem(spark._jsc.hadoopConfiguration())
    inputs = [status for status in files.globStatus(path(folder, "*/*.parquet"))]
    small = [one for one in inputs if not one.getPath().getName().startswith("compact-")]
    large = [one for one in inputs if one.getPath().getName().startswith("compact-")]
    rows = spark.sql(query).dropDuplicates(position)
    count = rows.count()
    if large and stored(spark, large, position) == (count, count):
        return delete(files, small, oldest_allowed=time.time() - GRACE_SECONDS, large=large)
    # Write where nobody reads, then move each file beside the small ones.
    staging = path(f"{ROOT}/_compact/{table}-{DAY}")
    parts = max(1, count // ROWS_PER_FILE)
    rows = rows.repartitionByRange(parts, "agent", *position).sortWithinPartitions(*position)
    # The column `agent` stays in the files; its copy names the directory.
    copied = rows.withColumn("folder", rows["agent"])
    copied.write.mode("overwrite").partitionBy("folder").parquet(staging.toString())
    number = 0
    for status in files.globStatus(path(staging, "*/*.parquet")):
        agent = status.getPath().getParent().getName().split("=", 1)[1]
        number += 1
        target = path(folder, f"agent={agent}/compact-{DAY}-s{number}.parquet")
        files.delete(target, False)
        if not files.rename(status.getPath(), target):
            raise SystemExit(f"cannot move {status.getPath()}")
    files.delete(staging, True)
    large = [one for one in files.globStatus(path(folder, "*/compact-*.parquet"))]
    if stored(spark, large, position) != (count, count):
        raise SystemExit(f"the compacted files of {table} do not hold every row once: delete them")
    print(f"{table}: {count} rows in {number} files; {len(small)} files can go after the grace period")
    return None


def stored(spark, files, position):
    rows = spark.read.parquet(*[one.getPath().toString() for one in files])
    return rows.count(), rows.select(*position).distinct().count()


def delete(files, small, oldest_allowed, large):
    if max(one.getModificationTime() for one in large) / 1000 > oldest_allowed:
        print("the grace period is not over")
        return
    for one in small:
        files.delete(one.getPath(), False)
    print(f"deleted {len(small)} files")


main()
