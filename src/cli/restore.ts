import { resolve } from 'node:path'
import { checkArchive, restore } from '../app/backup/restore.ts'
import { readConfig } from '../config/index.ts'
import { systemClock } from '../platform/time/clock.ts'
import { isoTime } from '../platform/time/time.ts'
import { type Command, UsageError } from './command.ts'
import { JSON_OPTION, printJson } from './json.ts'
import { progress, sizeText } from './progress.ts'
import { untilSignal } from './until-signal.ts'

/** Replaces the database of the settings by a backup. Works directly on the database: the service must not run. */
export const restoreCommand: Command = {
  summary: 'replace the database by a backup, while the service is stopped',
  operand: '<file>',
  options: {
    check: { about: 'only check that the file is complete and can be restored' },
    overwrite: { about: 'replace a database that exists' },
    moved: {
      about: 'the service has not run since the backup: send what was queued, as if nothing happened in between',
    },
    ...JSON_OPTION,
  },
  examples: [
    'posthorn restore --check posthorn-monday.backup',
    'posthorn restore posthorn-monday.backup --overwrite',
    'DATABASE_URL=postgres://… posthorn restore posthorn-monday.backup --moved',
  ],
  async run(terminal, { operands, options }) {
    const [operand] = operands
    if (operand === undefined) throw new UsageError('restore needs the file of a backup.')
    const file = resolve(operand)
    const isJson = options.json !== undefined
    const shown = progress(terminal)
    const onRows = (phase: string, table: string, rows: number) =>
      shown.update(`${phase}: ${rows} rows, table ${table}`)
    if (options.check !== undefined) {
      const checked = await untilSignal((signal) => checkArchive(file, { onRows, signal })).finally(shown.end)
      const { header, rows, tables, sizeBytes } = checked
      const { version, engine, createdAt } = header
      if (isJson) {
        return printJson(terminal, { file, rows, tables, sizeBytes, version, engine, createdAt: isoTime(createdAt) })
      }
      terminal.out(`${file} is complete: ${rows} rows of ${tables} tables, ${sizeText(sizeBytes)}.`)
      terminal.out(`Made by Posthorn ${version} from ${engine} at ${isoTime(createdAt)}.`)
      return
    }
    const { config } = readConfig()
    // The database is for this user alone.
    process.umask(0o077)
    const isMoved = options.moved !== undefined
    const { rows, header } = await untilSignal((signal) =>
      restore(config, {
        file,
        overwrite: options.overwrite !== undefined,
        isMoved,
        nowMs: systemClock.now(),
        onRows,
        signal,
        onMigrated: (names) => shown.update(`migrated: ${names.join(', ')}`),
        warn: terminal.error,
      }),
    ).finally(shown.end)
    if (isJson) return printJson(terminal, { file, rows, createdAt: isoTime(header.createdAt) })
    terminal.out(`Restored ${rows} rows as of ${isoTime(header.createdAt)}. Start the service.`)
    if (isMoved) return
    terminal.error(
      'Messages that were waiting to be sent may have been sent after the backup: the service searches Sent for them and reports the others as uncertain. See GET /outbox?status=uncertain.',
    )
  },
}
