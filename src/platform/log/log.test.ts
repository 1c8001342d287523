import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { AppError } from '../errors/app-error.ts'
import { idGenerator } from '../ids.ts'
import { fixedClock } from '../time/clock.ts'
import { type LogEntry, type LogLevel, logger, logRing, redactor, stdoutSink } from './index.ts'

const API_KEY = 'phk_0123456789abcdef'

function openLog(level: LogLevel = 'trace') {
  const clock = fixedClock(Date.UTC(2026, 0, 31, 8))
  const lines: string[] = []
  const ring = logRing()
  const hiding = redactor()
  hiding.hide(API_KEY)
  const log = logger({
    clock,
    ids: idGenerator(clock),
    instance: 'ins_1',
    level,
    redactor: hiding,
    sinks: [stdoutSink({ write: (line) => void lines.push(line) }), ring.add],
  })
  /** The lines on stdout after this turn of the event loop. */
  const written = async () => {
    await nextTurn()
    return lines.flatMap((text) => text.trimEnd().split('\n'))
  }
  return { log, ring, lines, written, clock, all: () => ring.select({}, { limit: 200 }).entries }
}

describe('a record', () => {
  it('keeps nothing alive of the long text that it was cut from', () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const { log, all } = openLog()
    const usedMB = () => {
      collectGarbage()
      const { heapUsed, external } = process.memoryUsage()
      return (heapUsed + external) / 2 ** 20
    }
    const before = usedMB()
    for (let size = 2 ** 20; size < 2 ** 20 + 100; size += 1) {
      const text = Buffer.alloc(size, 'A response without an end. ').toString('latin1')
      log.warn('Cannot sync.', { error: new Error(text), metadata: { text } })
    }
    expect(all()).toHaveLength(100)
    expect(usedMB() - before).toBeLessThan(50)
  })

  it('has the documented shape on stdout and in the ring', async () => {
    const { log, written, all } = openLog()
    log
      .with({ accountId: 'acc_1', metadata: { a: 1 } })
      .info('synced', { operation: 'sync.folder', durationMs: 1.234, metadata: { b: 2 } })
    const [entry] = all()
    expect(entry).toEqual({
      id: expect.stringMatching(/^log_/),
      level: 'info',
      message: 'synced',
      timestamp: '2026-01-31T08:00:00.000Z',
      accountId: 'acc_1',
      provider: null,
      operation: 'sync.folder',
      requestId: null,
      durationMs: 1.2,
      error: null,
      metadata: { a: 1, b: 2 },
      instance: 'ins_1',
    })
    const lines = await written()
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toEqual(entry)
  })

  it('is written only at the level or above, to stdout and the ring', async () => {
    const { log, written, all } = openLog('warn')
    log.info('quiet')
    log.with({ accountId: 'acc_1' }).debug('quiet')
    log.warn('loud')
    log.fatal('loud')
    expect(await written()).toHaveLength(2)
    expect(all().map((entry) => entry.level)).toEqual(['fatal', 'warn'])
  })

  it('contains an error with its causes, without other properties of library errors', () => {
    const { log, all } = openLog()
    const cause = Object.assign(new Error('connect to imap://joe:hunter22@mail.test failed'), {
      code: 'ECONNREFUSED',
      options: { auth: { pass: 'hunter22' } },
    })
    log.error('sync failed', { error: new AppError('provider_unavailable', { cause }) })
    const text = JSON.stringify(all())
    expect(text).not.toContain('hunter22')
    expect(all()[0]?.error).toMatchObject({
      name: 'AppError',
      code: 'provider_unavailable',
      cause: { message: 'connect to imap://joe:[redacted]@mail.test failed', code: 'ECONNREFUSED' },
    })
  })

  it('is written at once when it is a warning, with those before it, and otherwise once per turn', async () => {
    const { log, lines } = openLog()
    log.info('one')
    log.info('two')
    expect(lines).toEqual([])
    await nextTurn()
    expect(lines).toHaveLength(1)
    log.info('three')
    log.warn('four')
    expect(lines).toHaveLength(2)
    await nextTurn()
    expect(lines).toHaveLength(2)
  })

  it('leaves no listener on the process once it is written', async () => {
    const before = process.listenerCount('exit')
    const { log, lines } = openLog()
    log.info('one')
    expect(process.listenerCount('exit')).toBe(before + 1)
    await nextTurn()
    expect(lines).toHaveLength(1)
    log.warn('two')
    expect(process.listenerCount('exit')).toBe(before)
  })

  it('survives any thrown value and any metadata', () => {
    const { log, lines, all } = openLog()
    const circle: Record<string, unknown> = { n: 10n, when: new Date(0), bytes: new Uint8Array(3), f: () => 1 }
    circle.self = circle
    const get = () => {
      throw new Error('no')
    }
    Object.defineProperty(circle, 'broken', { enumerable: true, get })
    const loop = new Error('loop')
    loop.cause = loop
    log.error('odd', { error: loop, metadata: circle })
    log.error('odd', { error: 'a text' })
    log.error('odd', { error: { password: 'hunter22', why: 'x' } })
    log.error('odd', { error: new AggregateError([new Error('one'), new Error('two')]) })
    expect(lines).toHaveLength(4)
    const [aggregate, object, text, circular] = all()
    expect(circular?.metadata).toEqual({
      n: '10',
      when: '1970-01-01T00:00:00.000Z',
      bytes: '[3 bytes]',
      self: '[circular]',
      broken: '[unreadable]',
    })
    expect(text?.error?.message).toBe('a text')
    expect(object?.error?.message).toBe('{"password":"[redacted]","why":"x"}')
    expect(aggregate?.error?.errors?.map((error) => error.message)).toEqual(['one', 'two'])
  })

  it('is written whatever throws while it is read, and within a bounded size', () => {
    const { log, lines } = openLog()
    const fails = () => {
      throw new Error('no')
    }
    const throwing = new Proxy({}, { ownKeys: fails, get: fails, getPrototypeOf: fails, has: fails })
    const unnamed = Object.defineProperty(new Error('x'), 'message', { get: fails })
    const noErrors = Object.assign(new AggregateError([]), { errors: null })
    const wide = (depth: number): unknown => (depth === 0 ? 'long '.repeat(1000) : Array(50).fill(wide(depth - 1)))
    const anything: unknown[] = [
      throwing,
      unnamed,
      noErrors,
      { toJSON: fails },
      new Date(Number.NaN),
      Symbol('s'),
      fails,
      10n,
      new Map([[{}, 1]]),
      Object.create(null),
      new Array(2 ** 32 - 1),
      { deep: { proxy: throwing } },
      [throwing],
      wide(4),
      'x'.repeat(10_000_000),
      JSON.parse('{"__proto__":{"polluted":true}}'),
      new Map([['self', throwing]]),
      new Set([throwing]),
    ]
    for (const value of anything) {
      log.error('given as the error', { error: value })
      log.error('given as metadata', { metadata: { value } })
      Reflect.apply(log.error, log, ['given as the fields', value])
      Reflect.apply(log.error, log, [value])
    }
    log.error('the last one')
    expect(lines.join('').trimEnd().split('\n')).toHaveLength(4 * anything.length + 1)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(256 * 1024)
    expect({}).not.toHaveProperty('polluted')
  })

  it('reaches the other places when one of them throws', () => {
    const clock = fixedClock(0)
    const seen: string[] = []
    const broken = () => {
      throw new TypeError('a bug in a listener')
    }
    const sinks = [broken, (entry: LogEntry) => void seen.push(entry.message)]
    const log = logger({
      clock,
      ids: idGenerator(clock),
      instance: 'ins_1',
      level: 'trace',
      redactor: redactor(),
      sinks,
    })
    log.info('still here')
    expect(seen).toEqual(['still here'])
  })
})

describe('no secret reaches a record', () => {
  const secret = 's3cretValue-9f8e7d'
  const texts = [
    `Authorization: Bearer ${secret}`,
    `{"authorization":"Basic ${secret}"}`,
    `cookie: sid=${secret}; other=${secret}`,
    `set-cookie: sid=${secret}; HttpOnly`,
    `signed with whsec_${secret}`,
    `the API key phk_${secret} was refused`,
    `the browser sent posthorn_admin_0123abcd=${secret}; a=b`,
    `postgres://joe:${secret}@db.test/app`,
    `postgres://joe:p@${secret}@db.test/app`,
    `redis://:${secret}@cache.test:6379`,
    `GET /callback?code=${secret}&state=${secret}`,
    `POST access_token=${secret}&x=1`,
    `the body was {"refresh_token": "${secret}"}`,
    `x-api-key: ${secret}`,
    `AUTH XOAUTH2 ${secret}`,
    `the token ya29.${secret}`,
    `the token 1//0${secret}`,
    `the token eyJhbGciOiJI.${secret}`,
  ]
  it.each(texts)('in the text %s', async (text) => {
    const { log, written } = openLog()
    log.info(text, { error: new Error(text), metadata: { note: [text] } })
    const lines = await written()
    expect(lines).toHaveLength(1)
    expect(lines.join()).not.toContain(secret)
  })

  it.each([
    'password',
    'smtpPassword',
    'client_secret',
    'accessToken',
    'refresh-token',
    'Authorization',
    'Set-Cookie',
    'x-api-key',
    'SERVICE_API_KEY',
    'ENCRYPTION_KEYS',
    'codeVerifier',
    'body',
    'html',
    'secrets',
    'session',
  ])('under the key %s, however deep', async (key) => {
    const { log, written } = openLog()
    log.info('x', { metadata: { outer: [{ [key]: secret }], headers: { [key]: [secret] } } })
    const text = (await written()).join()
    expect(text).not.toContain(secret)
    expect(text).toContain('[redacted]')
  })

  it("when it is the service's own key, even where the text is truncated", async () => {
    const { log, written } = openLog()
    log.info(`xx${API_KEY}yy`, { metadata: { [API_KEY]: 1, note: 'a'.repeat(8185) + API_KEY } })
    const lines = await written()
    expect(lines).toHaveLength(1)
    expect(lines.join()).not.toContain(API_KEY.slice(0, 6))
  })

  it('but facts about secrets remain', () => {
    const { log, all } = openLog()
    log.info('x', { metadata: { hasToken: true, tokens: 3, statusCode: 200, code: 'ECONNRESET' } })
    expect(all()[0]?.metadata).toEqual({ hasToken: true, tokens: 3, statusCode: 200, code: 'ECONNRESET' })
  })

  it('and redacting a long hostile text takes linear time', () => {
    const { text } = redactor()
    for (const unit of ['a.', 'token=', 'x://', '"password":"', 'eyJa.', 'cookie:', 'bearer '])
      text(unit.repeat(1_000_000))
  })
})

describe('the ring', () => {
  const texts = (view: { entries: LogEntry[] }) => view.entries.map((entry) => entry.message)

  it('keeps the 2000 newest records, newest first', () => {
    const { log, ring } = openLog()
    for (let i = 0; i < 2500; i += 1) log.info(String(i))
    const all = ring.select({}, { limit: 3000 })
    expect([all.total, texts(all).length, texts(all)[0], texts(all).at(-1)]).toEqual([2000, 2000, '2499', '500'])
  })

  it('keeps as many records of requests apart from the others, and merges them', () => {
    const { log, ring } = openLog()
    log.info('synced', { operation: 'sync.account' })
    for (let i = 0; i < 3000; i += 1) log.info(String(i), { operation: 'http.request' })
    log.info('synced again', { operation: 'sync.account' })
    log.warn('limited', { operation: 'http.limit' })
    const everything = ring.select({ operation: '*' }, { limit: 4000 })
    expect(everything.total).toBe(2002)
    expect(texts(everything).slice(0, 3)).toEqual(['limited', 'synced again', '2999'])
    expect(texts(everything).slice(-2)).toEqual(['1001', 'synced'])
    for (let i = 0; i < 3000; i += 1) log.info(String(i), { operation: 'sync.account' })
    expect(ring.select({ operation: 'http.*' }, { limit: 1 }).total).toBe(2000)
  })

  it('selects records of requests from warn on, unless an operation is given', () => {
    const { log, ring } = openLog()
    log.info('read', { operation: 'http.request' })
    log.error('failed', { operation: 'http.request' })
    log.info('synced', { operation: 'sync.account' })
    log.info('without operation')
    expect(texts(ring.select({}, { limit: 9 }))).toEqual(['without operation', 'synced', 'failed'])
    expect(texts(ring.select({ level: 'info' }, { limit: 9 }))).toEqual(['without operation', 'synced'])
    expect(texts(ring.select({ operation: 'http.request' }, { limit: 9 }))).toEqual(['failed', 'read'])
    expect(texts(ring.select({ operation: '*', level: 'info' }, { limit: 9 }))).toHaveLength(3)
  })

  it('filters by exact level, account, provider and operation', () => {
    const { log, ring } = openLog()
    log.warn('a', { accountId: 'acc_1', provider: 'imap', operation: 'sync.folder' })
    log.error('b', { accountId: 'acc_1', provider: 'gmail' })
    log.error('c', { accountId: 'acc_2', provider: 'imap', operation: 'sync.folder' })
    expect(texts(ring.select({ level: 'warn' }, { limit: 9 }))).toEqual(['a'])
    expect(texts(ring.select({ accountId: 'acc_1' }, { limit: 9 }))).toEqual(['b', 'a'])
    expect(texts(ring.select({ provider: 'imap', level: 'error' }, { limit: 9 }))).toEqual(['c'])
    expect(ring.select({ operation: 'sync.folder' }, { limit: 1 }).total).toBe(2)
  })

  it('selects ranges that do not change while new records arrive', () => {
    const { log, ring } = openLog()
    for (let i = 1; i <= 5; i += 1) log.info(String(i))
    const [newest, second] = ring.select({}, { limit: 2 }).entries
    log.info('6')
    expect(ring.select({}, { upTo: newest?.id, limit: 2 }).total).toBe(5)
    expect(texts(ring.select({}, { upTo: newest?.id, before: second?.id, limit: 2 }))).toEqual(['3', '2'])
  })
})
