import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fc } from '../../../../test/kit/random/random.ts'
import { LINKS, VERSION, ZONES } from '../generated/zone-table.ts'
import { offsetReader } from './clock.ts'
import { newest, runtimeDatabase, runtimeReader, spelledZone, systemDatabase, zoneDatabase } from './database.ts'
import { parsePosixRule } from './posix-rule.ts'
import { readTzif } from './tzif.ts'

const SYSTEM = '/usr/share/zoneinfo'
const ms = (text: string) => Date.parse(`${text}Z`)
const hours = (offsetMs: number | undefined) => (offsetMs ?? Number.NaN) / 3_600_000

describe('parsePosixRule', () => {
  it.each([
    ['CET-1CEST,M3.5.0,M10.5.0/3', '2126-03-31T00:59:59', 1],
    ['CET-1CEST,M3.5.0,M10.5.0/3', '2126-03-31T01:00:00', 2],
    ['EST5EDT,M3.2.0,M11.1.0', '2040-11-04T05:59:59', -4],
    ['EST5EDT,M3.2.0,M11.1.0', '2040-11-04T06:00:00', -5],
    // Summer at New Year.
    ['AEST-10AEDT,M10.1.0,M4.1.0/3', '2040-01-01T00:00:00', 11],
    ['AEST-10AEDT,M10.1.0,M4.1.0/3', '2040-07-01T00:00:00', 10],
    // Winter time is the exception in Ireland.
    ['IST-1GMT0,M10.5.0,M3.5.0/1', '2040-01-01T00:00:00', 0],
    ['IST-1GMT0,M10.5.0,M3.5.0/1', '2040-07-01T00:00:00', 1],
    // Hours of another day.
    ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', '2040-03-25T00:59:59', -2],
    ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', '2040-03-25T01:00:00', -1],
    ['<+1030>-10:30<+11>-11,M10.1.0,M4.1.0', '2040-12-01T00:00:00', 11],
    ['XXX0YYY,J60/0,J300/0', '2028-02-29T23:59:59', 0],
    ['XXX0YYY,J60/0,J300/0', '2028-03-01T00:00:00', 1],
    ['XXX0YYY,59/0,300/0', '2028-02-29T00:00:00', 1],
    ['<+01>-1', '2100-01-01T00:00:00', 1],
  ])('%s at %s is %s h', (text, at, expected) => {
    expect(parsePosixRule(text)?.offsetAt(ms(at) / 1000)).toBe(expected * 3600)
  })

  it.each(['', 'CET', 'CET-1CEST', '<+01-1', 'CET-1CEST,M13.6.7', ':Europe/Berlin'])('refuses %j', (text) => {
    expect(parsePosixRule(text)).toBeUndefined()
  })
})

describe('readTzif', () => {
  it('has the wall clocks of Intl for each region of the system', async () => {
    const regions = [...ZONES.keys()].filter((name) => name.includes('/'))
    const files = await Promise.all(
      regions.map(async (name) => [name, await readFile(join(SYSTEM, name)).catch(() => undefined)] as const),
    )
    const readers = files.flatMap(([name, bytes]) => {
      const clock = bytes === undefined ? undefined : readTzif(bytes)
      const expected = runtimeReader(name)
      return clock === undefined || expected === undefined ? [] : [{ name, read: offsetReader(clock), expected }]
    })
    expect(readers.length).toBeGreaterThan(400)
    const different = readers.filter(({ read, expected }) => {
      // How far back a zone has a history of its own depends on how the database was built.
      for (let at = ms('1993-01-01T00:00:00'); at < ms('2026-01-01T00:00:00'); at += 40 * 86_400_000)
        if (read(at) !== expected(at)) return true
      return false
    })
    expect(different.map(({ name }) => name)).toEqual([])
  })

  it('refuses what is no such file', async () => {
    const bytes = await readFile(join(SYSTEM, 'Europe/Berlin'))
    expect(readTzif(bytes)).toBeDefined()
    const cuts = fc.nat(bytes.length - 40)
    fc.assert(
      fc.property(cuts, (length) => {
        expect(readTzif(bytes.subarray(0, length))).toBeUndefined()
      }),
    )
    expect(readTzif(Buffer.from('TZif1'))).toBeUndefined()
  })
})

describe('the database', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'posthorn-zones-'))
    await cp(join(SYSTEM, 'Asia/Tokyo'), join(folder, 'Japan'))
    await writeFile(join(folder, 'tzdata.zi'), '# version 2999b\n')
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('is the newest at hand', () => {
    const system = systemDatabase(folder)
    expect(system).toMatchObject({ source: 'system', version: '2999b' })
    expect(newest([system, runtimeDatabase('2999a')])).toBe(system)
    expect(newest([system, runtimeDatabase('2999c')])).toMatchObject({ source: 'runtime', version: '2999c' })
    expect(newest([undefined, runtimeDatabase('2020a')])).toMatchObject({ source: 'shipped', version: VERSION })
    expect(zoneDatabase().version >= VERSION).toBe(true)
  })

  it('of a system reads its files, and the shipped table where it has none', () => {
    const read = systemDatabase(folder)?.read
    expect(hours(read?.('Japan')?.(ms('2027-01-01T00:00:00')))).toBe(9)
    expect(hours(read?.('Europe/Berlin')?.(ms('2027-01-01T00:00:00')))).toBe(1)
    expect(read?.('Nowhere/Land')).toBeUndefined()
    expect(systemDatabase(join(folder, 'none'))).toBeUndefined()
  })

  it('has the zone of each link', () => {
    expect([...LINKS.values()].filter((name) => !ZONES.has(name))).toEqual([])
  })
})

describe('spelledZone', () => {
  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['us/PACIFIC', 'US/Pacific'],
    ['est', 'EST'],
    ['BST', undefined],
    ['IST', undefined],
    ['AST', undefined],
    ['../etc/passwd', undefined],
    ['', undefined],
  ])('of %j is %s', (name, expected) => {
    expect(spelledZone(name)).toBe(expected)
  })
})
