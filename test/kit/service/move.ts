import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { backup } from '../../../src/app/backup/backup.ts'
import { restore } from '../../../src/app/backup/restore.ts'
import { loadConfig } from '../../../src/config/index.ts'
import type { Place } from '../database/database.ts'
import { openDatabase } from '../database/open-database.ts'
import { eventually } from '../eventually.ts'
import type { Api } from '../http/http.ts'

const STEPS = {
  nowMs: Date.now(),
  onRows: () => {},
  onMigrated: () => {},
  warn: () => {},
  signal: new AbortController().signal,
}

/** Rotates the encryption keys of a running service, and returns the new one, by which everything is sealed then, as ENCRYPTION_KEYS has it. */
export async function rotateKeys(admin: Api, place: Place): Promise<string> {
  const { keyId } = (await admin.post('/encryption-keys', {})).json
  await eventually(async () => (await admin.post('/encryption-keys/promote', { keyId })).status === 200)
  for (let after: string | null | undefined; after !== null; ) {
    const { status, json } = await admin.post('/encryption-keys/reseal', after === undefined ? {} : { after })
    if (status !== 200 || json.unreadable.length > 0) throw new Error(`Resealing failed: ${JSON.stringify(json)}`)
    after = json.next
  }
  const ring = await readRing(place)
  const key = ring.split(',').find((entry) => entry.startsWith(`${keyId}:`))
  if (key === undefined) throw new Error(`The key ring does not have ${keyId}.`)
  return key
}

/** Backs up one database, and restores it as another. `keys` as in ENCRYPTION_KEYS. */
export async function moveTo(target: Place, source: Place, keys: string): Promise<void> {
  const file = join(target.dataDir, 'moved.backup')
  await backup(readConfig(source, keys), { ...STEPS, file, withKeys: false })
  await restore(readConfig(target, keys), { ...STEPS, file, overwrite: true, isMoved: false })
}

async function readRing({ engine, dataDir, databaseUrl }: Place): Promise<string> {
  if (engine === 'sqlite') return (await readFile(join(dataDir, 'encryption-keys'), 'utf8')).trim()
  const db = openDatabase({ dataDir, databaseUrl })
  const state = db.read.selectFrom('serviceState').select('value').where('name', '=', 'encryptionKeys')
  const { value } = await state.executeTakeFirstOrThrow().finally(() => db.close())
  return value
}

function readConfig({ dataDir, databaseUrl }: Place, keys: string) {
  const environment = {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: keys,
    SERVICE_API_KEY: 'k'.repeat(40),
  }
  return loadConfig({ environment, folder: dataDir }).config
}
