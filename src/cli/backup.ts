import { resolve } from 'node:path'
import { backup } from '../app/backup/backup.ts'
import { readConfig } from '../config/index.ts'
import { systemClock } from '../platform/time/clock.ts'
import { isoTime } from '../platform/time/time.ts'
import type { Command } from './command.ts'
import { JSON_OPTION, printJson } from './json.ts'
import { progress, sizeText } from './progress.ts'
import { untilSignal } from './until-signal.ts'

/** Backs up the database of the settings. Reads it directly, so that the service may run or not. */
export const backupCommand: Command = {
  summary: 'write the database to a file, while the service runs or not',
  options: {
    to: { value: 'FILE', about: 'the file to create; default: posthorn-<time>.backup in the working directory' },
    'with-keys': { about: 'include the encryption keys, so that the file alone gives access to all mailboxes' },
    ...JSON_OPTION,
  },
  examples: ['posthorn backup', 'posthorn backup --to /backups/posthorn-monday.backup'],
  async run(terminal, { options }) {
    const nowMs = systemClock.now()
    const name = `posthorn-${isoTime(nowMs).slice(0, 19).replaceAll(':', '')}.backup`
    const file = resolve(options.to ?? name)
    const withKeys = options['with-keys'] !== undefined
    const { config } = readConfig()
    const shown = progress(terminal)
    const onRows = (table: string, rows: number) => shown.update(`${rows} rows, table ${table}`)
    const result = await untilSignal((signal) => backup(config, { file, withKeys, nowMs, onRows, signal })).finally(
      shown.end,
    )
    const { rows, tables, sizeBytes } = result
    if (options.json !== undefined) return printJson(terminal, { file, rows, tables, sizeBytes, withKeys })
    terminal.out(`${file}: ${rows} rows of ${tables} tables, ${sizeText(sizeBytes)}.`)
    terminal.error(
      withKeys
        ? 'The file contains the encryption keys: it gives access to every mailbox. Store it as safely as a password.'
        : `The encryption keys are not in the file. Without them its credentials cannot be decrypted. Keep a copy of ${result.keys}.`,
    )
  },
}
