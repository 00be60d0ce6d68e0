/**
 * Questions about a whole fleet, in the SQL of DuckDB, over what `verify --format ndjson` printed on each host.
 *
 * Every run is kept as one file under {@link FLEET_FILES}, so that day and host come from its path and the lines stay as
 * they are. Columns are named one by one and nested values loaded as JSON: what a column holds never depends on what
 * happens to be damaged that day.
 */

/** Where the lines of each host are kept, a directory for each day. */
export const FLEET_LAYOUT = 'fleet/day=2026-11-29/host=broker-17/verify.ndjson';
/** What DuckDB reads, below the current directory. */
export const FLEET_FILES = 'fleet/day=*/host=*/*.ndjson';

export interface FleetQuery {
  readonly name: string;
  /** What it answers, in one sentence. */
  readonly asks: string;
  readonly sql: string;
}

/** Makes the tables `shards` and `findings`, which the queries ask. */
export const FLEET_LOAD = `CREATE TABLE lines AS
  SELECT * FROM read_json('${FLEET_FILES}', format = 'newline_delimited', maximum_object_size = 268435456,
    columns = {type: 'VARCHAR', path: 'VARCHAR', name: 'VARCHAR', key: 'VARCHAR', tailOffset: 'UBIGINT',
      segments: 'JSON', findings: 'JSON', prediction: 'JSON'},
    hive_partitioning = true, hive_types = {'day': DATE, 'host': VARCHAR});
CREATE TABLE shards AS
  SELECT day, host, path, coalesce(key, name) AS shard,
    prediction->>'$.verdict' AS verdict, tailOffset AS tail,
    list_sum((segments->'$[*].bytes')::BIGINT[]) AS bytes,
    list_sum((segments->'$[*].records')::BIGINT[]) AS records,
    list_sum((segments->'$[*].damagedBytes')::BIGINT[]) AS damaged,
    list_sum(list_transform(segments::JSON[],
      lambda s: if((s->>'$.skippedSinceMicros') IS NULL, (s->>'$.unreadBytes')::BIGINT, 0))) AS unread
  FROM lines WHERE type = 'shard';
CREATE TABLE findings AS
  SELECT day, host, path, shard, f->>'$.kind' AS kind, f->>'$.severity' AS severity, f->>'$.file' AS file,
    (f->>'$.lostOffsets.to')::HUGEINT - (f->>'$.lostOffsets.from')::HUGEINT AS lost, f->>'$.message' AS message
  FROM (
    SELECT day, host, path, coalesce(key, name) AS shard, unnest(findings::JSON[]) AS f
    FROM lines WHERE type = 'shard'
  );`;

const NEWEST_DAY = '(SELECT max(day) FROM shards)';

export const FLEET_QUERIES: readonly FleetQuery[] = [
  {
    name: 'worst-shards',
    asks: 'Which shards need a person first: those that a broker refuses to open, then those with the most damage.',
    sql: `SELECT host, shard, path, verdict, damaged, unread,
  count(f.kind) FILTER (f.severity IN ('error', 'fatal')) AS errors, sum(f.lost) AS lost_records
FROM shards LEFT JOIN findings f USING (day, host, path, shard)
WHERE day = ${NEWEST_DAY}
GROUP BY host, shard, path, verdict, damaged, unread
HAVING verdict <> 'opens' OR errors > 0 OR unread > 0
ORDER BY verdict = 'refuses' DESC, errors DESC, damaged DESC, host, path
LIMIT 20;`,
  },
  {
    name: 'damage-by-kind-and-host',
    asks: 'What is damaged where: one kind on one host is a disk, one kind on every host is a build.',
    sql: `SELECT kind, host, severity, count(*) AS findings, count(DISTINCT path) AS shards, sum(lost) AS lost_records
FROM findings
WHERE day = ${NEWEST_DAY} AND severity <> 'info'
GROUP BY kind, host, severity
ORDER BY findings DESC, kind, host;`,
  },
  {
    name: 'growth-since-yesterday',
    asks: 'How much each host has grown since the day before, and where offsets went backwards.',
    sql: `SELECT host, sum(today.bytes)::BIGINT - sum(before.bytes)::BIGINT AS bytes_grown,
  sum(today.tail::HUGEINT - before.tail::HUGEINT) AS offsets_grown,
  count(*) FILTER (today.tail < before.tail) AS shards_gone_back
FROM shards today JOIN shards before USING (host, path, shard)
WHERE today.day = ${NEWEST_DAY} AND before.day = today.day - INTERVAL 1 DAY
GROUP BY host
ORDER BY shards_gone_back DESC, bytes_grown DESC, host;`,
  },
  {
    name: 'new-since-yesterday',
    asks: 'What was not there the day before: findings of a kind that their file did not have.',
    sql: `SELECT host, shard, file, kind, severity, message
FROM findings today
WHERE day = ${NEWEST_DAY} AND severity <> 'info' AND NOT EXISTS (
  FROM findings before
  WHERE before.day = today.day - INTERVAL 1 DAY AND before.host = today.host AND before.path = today.path
    AND before.file IS NOT DISTINCT FROM today.file AND before.kind = today.kind
)
ORDER BY severity = 'fatal' DESC, host, shard, file, kind;`,
  },
  {
    name: 'silent-hosts',
    asks: 'Which hosts reported the day before and not today: a check that did not run finds nothing.',
    sql: `SELECT host FROM shards WHERE day = ${NEWEST_DAY} - INTERVAL 1 DAY
EXCEPT SELECT host FROM shards WHERE day = ${NEWEST_DAY}
ORDER BY host;`,
  },
];
