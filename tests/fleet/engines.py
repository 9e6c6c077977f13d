"""One way to ask each engine: `ask(sql)` returns rows as tuples, with plain numbers and texts."""

import datetime
import decimal
import json
import os


def plain(value):
    """The same value for all engines: whole numbers, decimals as texts, days as texts."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        value = decimal.Decimal(repr(value))
    if isinstance(value, decimal.Decimal):
        value = value.normalize()
        return int(value) if value == value.to_integral_value() else str(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()[:10]
    return value


def rows(found):
    return [tuple(plain(value) for value in row) for row in found]


def statements(script):
    return [part for part in script.split(";\n") if part.strip()]


class DuckDb:
    name = dialect = "duckdb"

    def __init__(self, script):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute(script)

    def ask(self, sql):
        return rows(self.connection.execute(sql).fetchall())


class ClickHouse:
    name = dialect = "clickhouse"

    def __init__(self, script):
        from chdb import session

        self.session = session.Session()
        self.session.query("create database if not exists fleet")
        self.session.query("use fleet")
        self.session.query("set output_format_json_quote_64bit_integers = 0")
        self.session.query("set output_format_json_quote_decimals = 1")
        for statement in statements(script):
            self.session.query(statement)

    def ask(self, sql):
        said = str(self.session.query(sql, "JSONCompactEachRowWithNamesAndTypes"))
        lines = [json.loads(line) for line in said.splitlines() if line.strip()]
        if not lines:
            return []
        decimals = ["Decimal" in type for type in lines[1]]
        found = []
        for line in lines[2:]:
            found.append([decimal.Decimal(value) if is_decimal and value is not None else value
                          for value, is_decimal in zip(line, decimals)])
        return rows(found)


class DataFusion:
    name = dialect = "datafusion"

    def __init__(self, script):
        from datafusion import SessionContext

        self.context = SessionContext()
        for statement in statements(script):
            self.context.sql(statement).collect()

    def ask(self, sql):
        table = self.context.sql(sql).to_arrow_table()
        return rows(zip(*[column.to_pylist() for column in table.columns])) if table.num_rows else []


class Spark:
    name = dialect = "spark"

    def __init__(self, script):
        from pyspark.sql import SparkSession

        # Two worker processes, each with a core.
        master = os.environ.get("FLEET_SPARK_MASTER", "local-cluster[2,1,1024]")
        builder = SparkSession.builder.master(master).config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "4")
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        for statement in statements(script):
            self.session.sql(statement)

    def ask(self, sql):
        return rows(tuple(row) for row in self.session.sql(sql).collect())


ENGINES = {engine.name: engine for engine in (DuckDb, ClickHouse, DataFusion, Spark)}
