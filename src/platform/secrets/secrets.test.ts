import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeEachDatabase, type Place } from '../../../test/kit/database/database.ts'
import { generateKeyRing, sealer } from '../crypto/seal.ts'
import type { Db } from '../db/index.ts'
import { idGenerator } from '../ids.ts'
import { type LogEntry, logger, redactor } from '../log/index.ts'
import { fixedClock } from '../time/clock.ts'
import { openSecrets, type SecretsDeps } from './index.ts'

const NOTHING = { serviceApiKey: undefined, adminPassword: undefined, encryptionKeys: undefined }
const KEY = { ...NOTHING, serviceApiKey: 'phk_given' }

function open(db: Db, dataDir: string, configured: SecretsDeps['configured']) {
  const clock = fixedClock(0)
  const records: LogEntry[] = []
  const hiding = redactor()
  const log = logger({
    clock,
    ids: idGenerator(clock),
    instance: 'ins_1',
    level: 'trace',
    redactor: hiding,
    sinks: [(entry) => void records.push(entry)],
  })
  return { records, log, secrets: openSecrets({ configured, db, dataDir, log, redactor: hiding }) }
}

describeEachDatabase('secrets', (databases, engine) => {
  async function opened(): Promise<{ place: Place; db: Db }> {
    const place = await databases.place()
    return { place, db: await databases(place) }
  }

  if (engine === 'sqlite') {
    describe('on the file store', () => {
      it('are generated at the first start, readable by the owner only, and reused at the next', async () => {
        const { place, db } = await opened()
        const first = open(db, place.dataDir, NOTHING)
        const { serviceApiKey, adminPassword, sealer: seals, keysBesideData } = await first.secrets
        expect(serviceApiKey).toMatch(/^phk_[\w-]{43}$/)
        expect(adminPassword).toMatch(/^[\w-]{24}$/)
        expect(keysBesideData).toBe(false)
        const files = ['admin-password', 'encryption-keys', 'service-api-key']
        expect(readdirSync(place.dataDir).filter((name) => !name.includes('.db'))).toEqual(files)
        for (const file of files) expect(statSync(join(place.dataDir, file)).mode & 0o777).toBe(0o600)
        expect(readFileSync(join(place.dataDir, 'service-api-key'), 'utf8')).toBe(`${serviceApiKey}\n`)
        const sealed = seals.seal('x', 'c')

        const second = open(db, place.dataDir, NOTHING)
        const again = await second.secrets
        expect(again).toMatchObject({ serviceApiKey, adminPassword })
        expect(again.sealer.open(sealed, 'c')).toBe('x')
        expect(second.records).toEqual([])
      })

      it('are logged by file name, never by value', async () => {
        const { place, db } = await opened()
        const { records, log, secrets } = open(db, place.dataDir, NOTHING)
        const { serviceApiKey, adminPassword } = await secrets
        expect(records.map((entry) => entry.message)).toEqual([
          `Generated an API key in ${place.dataDir}/service-api-key.`,
          `Generated a password for the portal in ${place.dataDir}/admin-password.`,
          `Generated the encryption keys in ${place.dataDir}/encryption-keys.`,
        ])
        log.info(`later ${serviceApiKey} and ${adminPassword}`)
        const text = JSON.stringify(records)
        const ring = readFileSync(join(place.dataDir, 'encryption-keys'), 'utf8').trim()
        for (const secret of [serviceApiKey, adminPassword ?? '', ring.slice(ring.indexOf(':') + 1)]) {
          expect(text).not.toContain(secret)
        }
      })

      it('come from the settings when given, and none is generated', async () => {
        const { place, db } = await opened()
        const configured = { serviceApiKey: 'a-key', adminPassword: 'a-password', encryptionKeys: generateKeyRing() }
        expect(await open(db, place.dataDir, configured).secrets).toMatchObject({
          serviceApiKey: 'a-key',
          adminPassword: 'a-password',
        })
        expect(readdirSync(place.dataDir).filter((name) => !name.includes('.db'))).toEqual([])
      })

      it('stop the start when a file is empty', async () => {
        const { place, db } = await opened()
        writeFileSync(join(place.dataDir, 'encryption-keys'), '\n')
        await expect(open(db, place.dataDir, NOTHING).secrets).rejects.toThrow(/encryption-keys is empty/)
      })
    })
  }

  if (engine === 'postgres') {
    describe('with a shared database', () => {
      it('require SERVICE_API_KEY, disable the portal, and generate one key ring for all instances', async () => {
        const { place, db } = await opened()
        await expect(open(db, place.dataDir, NOTHING).secrets).rejects.toThrow(/SERVICE_API_KEY is missing/)
        const starts = await Promise.all(
          [1, 2, 3].map(async () => {
            const start = open(await databases(place), place.dataDir, KEY)
            return { secrets: await start.secrets, records: start.records }
          }),
        )
        const sealed = starts[0]?.secrets.sealer.seal('x', 'c') ?? ''
        for (const { secrets, records } of starts) {
          expect(secrets).toMatchObject({ adminPassword: undefined, keysBesideData: true })
          expect(secrets.sealer.open(sealed, 'c')).toBe('x')
          expect(records.map((entry) => [entry.level, entry.message])).toEqual([
            ['info', 'The admin portal is disabled because ADMIN_PASSWORD is not set.'],
            ['warn', expect.stringMatching(/^ENCRYPTION_KEYS is not set: the database holds the encryption keys/)],
          ])
        }
        expect(readdirSync(place.dataDir)).toEqual([])
      })
    })
  }

  it('reject a key ring that does not open the stored data, and name the key', async () => {
    const { place, db } = await opened()
    await open(db, place.dataDir, { ...KEY, encryptionKeys: generateKeyRing('k1') }).secrets
    const wrong = 'It was sealed with the key "k1"'
    await expect(open(db, place.dataDir, { ...KEY, encryptionKeys: generateKeyRing('k2') }).secrets).rejects.toThrow(
      wrong,
    )
    await expect(open(db, place.dataDir, { ...KEY, encryptionKeys: generateKeyRing('k1') }).secrets).rejects.toThrow(
      wrong,
    )
  })

  it('rotate: the old key opens, the new one seals, and an instance with only the old one stops', async () => {
    const { place, db } = await opened()
    const [k1, k2] = [generateKeyRing('k1'), generateKeyRing('k2')]
    const before = await open(db, place.dataDir, { ...KEY, encryptionKeys: k1 }).secrets
    const old = before.sealer.seal('a password', 'account:acc_1')
    const after = await open(db, place.dataDir, { ...KEY, encryptionKeys: `${k2},${k1}` }).secrets
    expect(after.sealer.open(old, 'account:acc_1')).toBe('a password')
    expect(after.sealer.seal('a password', 'account:acc_1')).toMatch(/^k2:/)
    await expect(open(db, place.dataDir, { ...KEY, encryptionKeys: k1 }).secrets).rejects.toThrow('the key "k2"')
    await open(db, place.dataDir, { ...KEY, encryptionKeys: k2 }).secrets
  })

  it('set after others were generated are a rotation: older data still opens', async () => {
    const { place, db } = await opened()
    const made = await open(db, place.dataDir, KEY).secrets
    const old = made.sealer.seal('x', 'c')
    const configured = await open(db, place.dataDir, { ...KEY, encryptionKeys: generateKeyRing('k1') }).secrets
    expect(configured.keysBesideData).toBe(false)
    expect(configured.sealer.open(old, 'c')).toBe('x')
    expect(configured.sealer.seal('x', 'c')).toMatch(/^k1:/)
  })
})

describe('a sealed text', () => {
  it('opens only in the context for which it was sealed', () => {
    const seals = sealer([{ id: 'k1', key: Buffer.alloc(32, 7) }])
    expect(() => seals.open(seals.seal('x', 'account:acc_1'), 'account:acc_2')).toThrow(/cannot open/)
  })
})
