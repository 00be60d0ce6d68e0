/**
 * The part of the runbook on looking at a whole fleet every night: recipes, and queries over what they collect.
 */

import type { Block, ManSection } from './roff.js';

/** A recipe over ssh; `hosts` holds a name a line. */
export const SSH_RECIPE: readonly string[] = [
  "xargs -P 8 -n 1 sh -c '",
  '  mkdir -p "reports/$1"',
  '  ssh -n "$1" nice felix-fsck verify --format ndjson /var/lib/felix \\',
  '    > "reports/$1/$0.ndjson" 2> "reports/$1/$0.err"',
  '  echo "$1 $?"',
  '\' "$(date -u +%F)" < hosts > exits',
];

const ANSIBLE: readonly string[] = [
  '- hosts: felix_brokers',
  '  gather_facts: false',
  '  tasks:',
  '    - name: Verify the data root',
  '      ansible.builtin.command: felix-fsck verify --format ndjson /var/lib/felix',
  '      register: fsck',
  '      changed_when: false',
  '      failed_when: fsck.rc not in [0, 20, 21, 22, 30]',
  '    - name: Keep the report',
  '      ansible.builtin.copy:',
  '        content: "{{ fsck.stdout }}\\n"',
  '        dest: "reports/{{ inventory_hostname }}/{{ now(utc=true).date() }}.ndjson"',
  '      delegate_to: localhost',
  '    - name: Call somebody when a broker would refuse to start',
  '      ansible.builtin.fail:',
  '        msg: "felix-fsck exited with {{ fsck.rc }}"',
  '      when: fsck.rc == 22',
];

const KUBERNETES: readonly string[] = [
  'apiVersion: snapshot.storage.k8s.io/v1',
  'kind: VolumeSnapshot',
  'metadata: {name: felix-0-audit}',
  'spec:',
  '  source: {persistentVolumeClaimName: data-felix-0}',
  '---',
  'apiVersion: v1',
  'kind: PersistentVolumeClaim',
  'metadata: {name: felix-0-audit}',
  'spec:',
  '  accessModes: [ReadWriteOnce]',
  '  dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: felix-0-audit}',
  '  resources: {requests: {storage: 100Gi}}',
  '---',
  'apiVersion: batch/v1',
  'kind: Job',
  'metadata: {name: felix-0-audit}',
  'spec:',
  '  backoffLimit: 0',
  '  template:',
  '    spec:',
  '      restartPolicy: Never',
  '      containers:',
  '        - name: fsck',
  '          image: registry.example.com/felix-fsck:0.1.0',
  '          command: [felix-fsck, verify, --format, ndjson, /data]',
  '          resources: {limits: {memory: 512Mi}}',
  '          securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false}',
  '          volumeMounts: [{name: data, mountPath: /data, readOnly: true}]',
  '      volumes:',
  '        - name: data',
  '          persistentVolumeClaim: {claimName: felix-0-audit, readOnly: true}',
];

/** A line for cron; the file is replaced whole. */
export const TEXTFILE: readonly string[] = [
  '17 3 * * * root nice felix-fsck verify --format prometheus \\',
  '  --output /var/lib/node_exporter/textfile/felix-fsck.prom /var/lib/felix',
];

export const ALERTS: readonly string[] = [
  'groups:',
  '  - name: felix-fsck',
  '    rules:',
  '      - alert: FelixBrokerWouldRefuseAShard',
  '        expr: felix_fsck_shards{verdict="refuses"} > 0',
  '      - alert: FelixAuditMissing',
  '        expr: time() - felix_fsck_run_timestamp_seconds > 2 * 86400',
  '      - alert: FelixAuditInterrupted',
  '        expr: felix_fsck_run_partial == 1',
  '      - alert: FelixAuditCouldNotRead',
  '        expr: felix_fsck_run_exit_code == 30',
];

/** Reports lie in `reports/HOST/DAY.ndjson`. */
export const VIEW_SQL = `CREATE VIEW shards AS
SELECT regexp_extract(filename, 'reports/([^/]+)/', 1) AS host,
       CAST(regexp_extract(filename, '([0-9-]{10}).ndjson$', 1) AS DATE) AS day,
       coalesce(key, name) AS shard, path,
       TRY_CAST(segments AS JSON[]) AS segments, TRY_CAST(findings AS JSON[]) AS findings,
       prediction->>'verdict' AS verdict,
       TRY_CAST(tailOffset AS UBIGINT) AS tail, bytesRead
FROM read_ndjson('reports/*/*.ndjson', filename = true, maximum_object_size = 1000000000,
  columns = {type: 'VARCHAR', key: 'VARCHAR', name: 'VARCHAR', path: 'VARCHAR',
             segments: 'JSON', findings: 'JSON', prediction: 'JSON',
             tailOffset: 'VARCHAR', bytesRead: 'UBIGINT'})
WHERE type = 'shard';`;

export const QUERIES: readonly { readonly title: string; readonly sql: string }[] = [
  {
    title: 'The worst shards of the newest day',
    sql: `SELECT host, shard, verdict,
       len(list_filter(findings, lambda f: f->>'severity' = 'fatal')) AS fatal,
       len(list_filter(findings, lambda f: f->>'severity' = 'error')) AS error, path
FROM shards WHERE day = (SELECT max(day) FROM shards)
  AND len(list_filter(findings, lambda f: f->>'severity' IN ('fatal', 'error'))) > 0
ORDER BY fatal DESC, error DESC, host, shard LIMIT 20;`,
  },
  {
    title: 'Damage by kind and host',
    sql: `SELECT host, f->>'kind' AS kind, f->>'severity' AS severity, count(*) AS findings
FROM (SELECT host, unnest(findings) AS f FROM shards
      WHERE day = (SELECT max(day) FROM shards))
WHERE severity IN ('warning', 'error', 'fatal')
GROUP BY ALL ORDER BY findings DESC, host, kind;`,
  },
  {
    title: 'Growth since the day before, and shards that shrank',
    sql: `SELECT n.host, n.shard, n.tail - o.tail AS records,
       CAST(n.bytesRead AS BIGINT) - CAST(o.bytesRead AS BIGINT) AS bytes
FROM shards n JOIN shards o ON o.host = n.host AND o.path = n.path AND o.day = n.day - 1
WHERE n.day = (SELECT max(day) FROM shards)
ORDER BY records, n.host, n.shard LIMIT 20;`,
  },
  {
    title: 'What is new since the day before',
    sql: `WITH f AS (SELECT host, day, path, x->>'kind' AS kind, x->>'file' AS file
           FROM (SELECT host, day, path, unnest(findings) AS x FROM shards))
SELECT host, path, file, kind FROM f WHERE day = (SELECT max(day) FROM shards)
EXCEPT SELECT host, path, file, kind FROM f WHERE day = (SELECT max(day) FROM shards) - 1
ORDER BY ALL;`,
  },
];

const BLOCKS: readonly Block[] = [
  {
    is: 'text',
    text:
      'Verifying is safe while a broker serves the directory: what grows meanwhile is judged up to where it ended, and a ' +
      'last record in flight is no damage. A snapshot of the volume is better still. `--quick` checks what a broker checks ' +
      'at open, and is a matter of seconds; the full check reads every byte, so give it a low priority and the night. ' +
      'Exit codes tell the outcome: 0, 20, 21, 22 and 30 are findings, anything else is a run that did not do its work.',
  },
  { is: 'heading', text: 'Over ssh' },
  { is: 'text', text: 'Eight hosts at a time; the names stand in the file `hosts`, a line each:' },
  { is: 'lines', lines: SSH_RECIPE },
  { is: 'heading', text: 'Ansible' },
  { is: 'text', text: 'The play never changes a host, and fails the hosts that somebody has to look at:' },
  { is: 'lines', lines: ANSIBLE },
  { is: 'heading', text: 'Kubernetes' },
  {
    is: 'text',
    text:
      'A Job that reads a snapshot of the volume, so that the broker is not disturbed. The report is its log, and its ' +
      'status the exit code:',
  },
  { is: 'lines', lines: KUBERNETES },
  { is: 'heading', text: 'Prometheus' },
  { is: 'text', text: 'On each host, a file for the textfile collector of the node exporter, by cron:' },
  { is: 'lines', lines: TEXTFILE },
  { is: 'text', text: 'And rules that call somebody, also when the audit itself went missing:' },
  { is: 'lines', lines: ALERTS },
  { is: 'heading', text: 'Queries' },
  {
    is: 'text',
    text:
      'With the reports of each day in `reports/HOST/DAY.ndjson`, DuckDB answers questions over the whole fleet. Offsets ' +
      'have 64 bits and stand as text. A view first:',
  },
  { is: 'lines', lines: VIEW_SQL.split('\n') },
  ...QUERIES.flatMap(({ title, sql }): Block[] => [
    { is: 'text', text: `${title}:` },
    { is: 'lines', lines: sql.split('\n') },
  ]),
];

export const AUDIT: readonly ManSection[] = [{ title: 'A nightly audit of a fleet', blocks: BLOCKS }];
