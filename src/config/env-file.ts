import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Environment } from './file.ts'
import { ConfigError } from './load.ts'

/** The variables of the file `.env` in the folder; none without the file. Throws `ConfigError` when it cannot be read. */
export function readEnvFile(folder: string): Environment {
  const file = join(folder, '.env')
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    if (code === 'ENOENT') return {}
    throw new ConfigError([`Cannot read ${file} (${code}). Check its permissions.`])
  }
}
