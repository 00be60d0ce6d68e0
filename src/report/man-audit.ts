/**
 * The part of the runbook on looking at a whole fleet every night: recipes, and queries over what they collect.
 */

import { FLEET_LAYOUT, FLEET_LOAD, FLEET_QUERIES } from '../domain/fleet-queries.js';
import type { Block, ManSection } from './roff.js';

/** A recipe over ssh; `hosts` holds a name a line. */
export const SSH_RECIPE: readonly string[] = [
  "xargs -P 8 -n 1 sh -c '",
  '  to="fleet/day=$0/host=$1"; mkdir -p "$to"',
  '  ssh -n "$1" nice felix-fsck verify --format ndjson /var/lib/felix \\',
  '    > "$to/verify.ndjson" 2> "$to/errors"',
  '  echo "$1 $?"',
  '\' "$(date -u +%F)" < hosts > exits',
];

const ANSIBLE: readonly string[] = [
  '- hosts: felix_brokers',
  '  gather_facts: false',
  '  vars:',
  '    to: "fleet/day={{ now(utc=true).date() }}/host={{ inventory_hostname }}"',
  '  tasks:',
  '    - name: Verify the data root',
  '      ansible.builtin.command: felix-fsck verify --format ndjson /var/lib/felix',
  '      register: fsck',
  '      changed_when: false',
  '      failed_when: fsck.rc not in [0, 20, 21, 22, 30]',
  '    - name: Make a place for the report',
  '      ansible.builtin.file: {path: "{{ to }}", state: directory}',
  '      delegate_to: localhost',
  '    - name: Keep the report',
  '      ansible.builtin.copy:',
  '        content: "{{ fsck.stdout }}\\n"',
  '        dest: "{{ to }}/verify.ndjson"',
  '      delegate_to: localhost',
  '    - name: Call somebody when a broker would refuse to start',
  '      ansible.builtin.fail:',
  '        msg: "a broker would refuse a shard here: exit code {{ fsck.rc }}"',
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
  '17 3 * * * root nice felix-fsck verify --format prometheus --output /var/lib/node_exporter/felix.prom /var/lib/felix',
];

export const ALERTS: readonly string[] = [
  'groups:',
  '  - name: felix-fsck',
  '    rules:',
  '      - alert: FelixBrokerWouldRefuseAShard',
  '        expr: felix_fsck_shards{verdict="refuses"} > 0',
  '      - alert: FelixOpenWouldCutIntactRecords',
  '        expr: felix_fsck_shard_intact_records_cut_at_open > 0',
  '      - alert: FelixRecordsOrFactsAreLost',
  '        expr: felix_fsck_findings{severity="error"} > 0',
  '      - alert: FelixAuditMissing',
  '        expr: time() - felix_fsck_run_timestamp_seconds > 2 * 86400',
  '      - alert: FelixAuditInterrupted',
  '        expr: felix_fsck_run_partial == 1',
  '      - alert: FelixAuditCouldNotRead',
  '        expr: felix_fsck_run_exit_code == 30',
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
    text: 'With a file for each host and day, DuckDB answers questions over the whole fleet. The files are named like this:',
  },
  { is: 'lines', lines: [FLEET_LAYOUT] },
  { is: 'text', text: 'Load them first:' },
  { is: 'lines', lines: FLEET_LOAD.split('\n') },
  ...FLEET_QUERIES.flatMap(({ asks, sql }): Block[] => [
    { is: 'text', text: asks },
    { is: 'lines', lines: sql.split('\n') },
  ]),
];

export const AUDIT: readonly ManSection[] = [{ title: 'A nightly audit of a fleet', blocks: BLOCKS }];
