import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { databases, describeEachDatabase, describePostgres } from '../../../test/kit/database/database.ts'
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts'
import { DatabaseUnavailable, type Db, findState, setState } from './index.ts'
import { openPostgres } from './postgres/postgres.ts'
import { bindable } from './sqlite/bindable.ts'
import { Mutex } from './sqlite/mutex.ts'
import { SqliteDriver } from './sqlite/sqlite-driver.ts'

/** Writes the value to a column of this type and reads it back. */
async function stored(db: Db, type: string, value: unknown): Promise<unknown> {
  return db.transaction(async (tx) => {
    await sql`create table "stored" ("value" ${sql.raw(type)})`.execute(tx)
    await sql`insert into "stored" ("value") values (${value})`.execute(tx)
    const { rows } = await sql<{ value: unknown }>`select "value" from "stored"`.execute(tx)
    await sql`drop table "stored"`.execute(tx)
    return rows[0]?.value
  })
}

describeEachDatabase('a parameter', (databases) => {
  it('that is a boolean becomes 0 or 1, and the process lives', async () => {
    const db = await databases()
    expect(await stored(db, 'integer', true)).toBe(1)
    expect(await stored(db, 'integer', false)).toBe(0)
  })

  it('that is a date becomes its ISO text', async () => {
    const db = await databases()
    expect(await stored(db, 'text', new Date(0))).toBe('1970-01-01T00:00:00.000Z')
  })

  it('that is text loses NUL and nothing else', async () => {
    const db = await databases()
    expect(await stored(db, 'text', 'a\0b \'"\\ 会議 🎺')).toBe('ab \'"\\ 会議 🎺')
  })

  it('that is undefined or null becomes NULL', async () => {
    const db = await databases()
    expect(await stored(db, 'text', undefined)).toBeNull()
    expect(await stored(db, 'text', null)).toBeNull()
  })

  it('that is an integer stays one, up to 2^53', async () => {
    const db = await databases()
    for (const value of [0, -1, 1_800_000_000_000, Number.MAX_SAFE_INTEGER]) {
      expect(await stored(db, 'bigint', value)).toBe(value)
    }
    const { rows } = await sql<{ half: number }>`select cast(${7} as bigint) / ${2} as half`.execute(db.read)
    expect(rows).toEqual([{ half: 3 }])
  })

  it.each([
    ['an object', { a: 1 }],
    ['a list', [1]],
    ['NaN', Number.NaN],
    ['a function', () => 1],
  ])('that is %s is refused', async (_what, value) => {
    const db = await databases()
    await expect(stored(db, 'text', value)).rejects.toThrow(TypeError)
    await expect(db.ping()).resolves.toBeUndefined()
  })

  it('does not appear in the error when it is rejected', () => {
    expect(() => bindable({ password: 'hunter22' })).toThrow('cannot bind object to SQL; store JSON as text')
  })
})

describeEachDatabase('a transaction', (databases, engine) => {
  it('ends before the next one starts on the file store, in call order', async () => {
    const db = await databases()
    const seen: string[] = []
    const names = ['a', 'b', 'c']
    await Promise.all(
      names.map((name) =>
        db.transaction(async (tx) => {
          seen.push(`${name} begins`)
          await setState(tx, 'order', name)
          await setState(tx, name, '1')
          seen.push(`${name} ends`)
        }),
      ),
    )
    if (engine === 'sqlite') expect(seen).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]))
    expect(seen).toHaveLength(6)
  })

  it('waits for at most one bulk transaction on the file store', async () => {
    const db = await databases()
    const seen: string[] = []
    const run = (name: string, bulk: boolean) =>
      db.transaction(
        async (tx) => {
          seen.push(name)
          await setState(tx, 'order', name)
        },
        { bulk },
      )
    const bulk = ['bulk 1', 'bulk 2', 'bulk 3'].map((name) => run(name, true))
    await Promise.all([...bulk, run('delivery', false)])
    if (engine === 'sqlite') expect(seen).toEqual(['bulk 1', 'delivery', 'bulk 2', 'bulk 3'])
    expect(seen).toHaveLength(4)
  })

  it('calls its hooks after the commit, in order, and not after a rollback', async () => {
    const db = await databases()
    const seen: (string | undefined)[] = []
    await db.transaction(async (tx) => {
      tx.afterCommit(() => seen.push('first'))
      tx.afterCommit(() => seen.push('second'))
      await setState(tx, 'x', '1')
      expect(seen).toEqual([])
    })
    const rolledBack = db.transaction(async (tx) => {
      tx.afterCommit(() => seen.push('never'))
      await setState(tx, 'x', '2')
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    expect(seen).toEqual(['first', 'second'])
    expect(await findState(db.read, 'x')).toBe('1')
  })

  it('stays committed, and calls the other hooks, when one hook throws', async () => {
    const db = await databases()
    const warned = new Promise((resolve) => process.once('warning', resolve))
    const seen: string[] = []
    await db.transaction(async (tx) => {
      await setState(tx, 'x', '1')
      tx.afterCommit(() => {
        throw new Error('a bug in a hook')
      })
      tx.afterCommit(() => seen.push('still'))
    })
    expect(seen).toEqual(['still'])
    expect(await warned).toMatchObject({ message: 'a bug in a hook' })
  })

  it('that failed does not block the next', async () => {
    const db = await databases()
    for (let i = 0; i < 20; i += 1) {
      await expect(db.transaction((tx) => sql`select * from "nothing"`.execute(tx))).rejects.toThrow(/nothing/)
    }
    await db.transaction((tx) => setState(tx, 'x', '1'))
    expect(await findState(db.read, 'x')).toBe('1')
  })

  it('is visible to reads only after its commit', async () => {
    const db = await databases()
    await db.transaction(async (tx) => {
      await setState(tx, 'x', '1')
      expect(await findState(db.read, 'x')).toBeUndefined()
      expect(await findState(tx, 'x')).toBe('1')
    })
    expect(await findState(db.read, 'x')).toBe('1')
  })

  it('distinguishes a violated unique constraint from other errors', async () => {
    const db = await databases()
    const twice = db.transaction(async (tx) => {
      for (const value of ['1', '2']) await tx.insertInto('serviceState').values({ name: 'x', value }).execute()
    })
    const error = await twice.catch((caught: unknown) => caught)
    expect(db.dialect.isUniqueViolation(error)).toBe(true)
    expect(db.dialect.isUniqueViolation(new Error('no'))).toBe(false)
  })
})

describeEachDatabase('a database', (databases) => {
  it('returns counts, sums and its time as numbers', async () => {
    const db = await databases()
    const { rows } = await sql<Record<string, unknown>>`
      select count(*) as "count", sum("big") as "sum", ${db.dialect.nowMs} as "now"
      from (select cast(${4_000_000_000} as bigint) as "big" union all select 1) as t`.execute(db.read)
    expect(rows[0]).toMatchObject({ count: 2, sum: 4_000_000_001 })
    expect(Math.abs(Number(rows[0]?.now) - Date.now())).toBeLessThan(60_000)
    expect(typeof rows[0]?.now).toBe('number')
  })

  it('returns columns that were added after the first run of a statement', async () => {
    const db = await databases()
    const all = () => sql`select * from "grows"`.execute(db.read).then(({ rows }) => rows)
    await db.transaction(async (tx) => {
      await sql`create table "grows" ("a" text)`.execute(tx)
      await sql`insert into "grows" values ('1')`.execute(tx)
    })
    expect(await all()).toEqual([{ a: '1' }])
    await db.transaction((tx) => sql`alter table "grows" add column "b" text default 'x'`.execute(tx))
    expect(await all()).toEqual([{ a: '1', b: 'x' }])
  })

  it('commits running transactions when it is closed and rejects later ones; twice safely', async () => {
    const place = await databases.place()
    const db = await databases(place)
    let closed: Promise<void> | undefined
    await db.transaction(async (tx) => {
      await setState(tx, 'x', '1')
      closed = db.close()
      await setState(tx, 'y', '2')
    })
    await closed
    await db.close()
    await expect(db.transaction((tx) => setState(tx, 'z', '3'))).rejects.toThrow()
    await expect(findState(db.read, 'x')).rejects.toThrow()
    await expect(db.ping()).rejects.toThrow()
    const again = await databases(place)
    expect(await findState(again.read, 'y')).toBe('2')
    expect(await findState(again.read, 'z')).toBeUndefined()
  })

  it('that was never used can be closed', async () => {
    const db = await databases()
    await expect(db.close()).resolves.toBeUndefined()
  })
})

describePostgres('PostgreSQL', (databases) => {
  it('closes a connection that does not respond within the timeout', async () => {
    const place = await databases.place()
    const url = new URL(place.databaseUrl ?? '')
    const proxy = closing(await startTcpProxy(Number(url.port)))
    url.port = String(proxy.port)
    const db = openPostgres({ url: url.href, maxConnections: 1, onError: () => {}, queryTimeoutMs: 300 })
    onTestFinished(() => db.close())
    const found = () => sql<{ one: number }>`select 1 as "one"`.execute(db.read)
    expect((await found()).rows).toEqual([{ one: 1 }])
    proxy.silence()
    await expect(found()).rejects.toThrow(DatabaseUnavailable)
    expect((await found()).rows).toEqual([{ one: 1 }])
    const work = db.transaction(async (tx) => {
      await findState(tx, 'x')
      proxy.silence()
      await findState(tx, 'x')
    })
    await expect(work).rejects.toThrow(DatabaseUnavailable)
    expect((await found()).rows).toEqual([{ one: 1 }])
  })

  it('is unavailable when it cannot be reached or rejects the login, but not after a wrong statement', async () => {
    const place = await databases.place()
    const url = new URL(place.databaseUrl ?? '')
    const refusals = [
      ['port', '1', 'ECONNREFUSED'],
      ['password', 'wrong', 'password authentication failed'],
      ['pathname', '/nothing', 'does not exist'],
    ] as const
    for (const [part, value, reason] of refusals) {
      const elsewhere = new URL(url)
      elsewhere[part] = value
      const db = openPostgres({ url: elsewhere.href, maxConnections: 1, onError: () => {} })
      for (const work of [findState(db.read, 'x'), db.transaction((tx) => findState(tx, 'x'))]) {
        await expect(work).rejects.toThrow(DatabaseUnavailable)
        await expect(work).rejects.toMatchObject({ reason: expect.stringContaining(reason) })
      }
      await db.close()
    }
    const db = await databases(place)
    for (const statement of [sql`select * from "nothing"`, sql`select 1 / 0`, sql`select ${{}}`]) {
      await expect(statement.execute(db.read)).rejects.not.toBeInstanceOf(DatabaseUnavailable)
    }
  })

  it('fails only the transaction whose connection is lost', async () => {
    const place = await databases.place()
    const lost: Error[] = []
    const db = openPostgres({ url: place.databaseUrl ?? '', maxConnections: 2, onError: (error) => lost.push(error) })
    try {
      const killed = db.transaction(async (tx) => {
        await setState(tx, 'x', '1')
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
        await sql`select pg_terminate_backend(${rows[0]?.pid ?? 0})`.execute(db.read)
        await setState(tx, 'y', '2')
      })
      await expect(killed).rejects.toBeInstanceOf(DatabaseUnavailable)
      expect(lost.length).toBeGreaterThan(0)
      for (const name of ['a', 'b', 'c']) await db.transaction((tx) => setState(tx, name, '1'))
      expect(await findState(db.read, 'x')).toBeUndefined()
    } finally {
      await db.close()
    }
  })

  it('throws at the commit when the body caught the error of a statement', async () => {
    const db = await databases()
    const called: string[] = []
    const swallowed = db.transaction(async (tx) => {
      tx.afterCommit(() => called.push('never'))
      await setState(tx, 'x', '1')
      await sql`select * from "nothing"`.execute(tx).catch(() => undefined)
    })
    await expect(swallowed).rejects.toThrow(/rolled back/)
    expect(called).toEqual([])
    await db.transaction((tx) => setState(tx, 'y', '1'))
    expect(await findState(db.read, 'x')).toBeUndefined()
  })

  it('repeats transactions after a deadlock until both are done', async () => {
    const db = await databases()
    for (const name of ['a', 'b']) await db.transaction((tx) => setState(tx, name, ''))
    let tries = 0
    const both = (first: string, second: string) =>
      db.transaction(async (tx) => {
        tries += 1
        await setState(tx, first, first + second)
        await sql`select pg_sleep(0.2)`.execute(tx)
        await setState(tx, second, first + second)
      })
    await Promise.all([both('a', 'b'), both('b', 'a')])
    expect(tries).toBe(3)
    expect(await findState(db.read, 'a')).toBe(await findState(db.read, 'b'))
  })

  it('queues transactions when all connections are in use', async () => {
    const place = await databases.place()
    const db = openPostgres({ url: place.databaseUrl ?? '', maxConnections: 1, onError: () => {} })
    await Promise.all(Array.from({ length: 10 }, (_, i) => db.transaction((tx) => setState(tx, `n${i}`, '1'))))
    await db.close()
  })
})

describe('SQLite', () => {
  const open = databases('sqlite')

  it('rejects writes through its reader', async () => {
    const db = await open()
    await expect(setState(db.read, 'x', '1')).rejects.toThrow(/readonly/)
  })

  it('lets timers run between transactions, between reads, and within a transaction', async () => {
    const db = await open()
    const loop = async (isDone: () => boolean, step: () => Promise<unknown>) => {
      while (!isDone()) await step()
    }
    const works = [
      (isDone: () => boolean) => loop(isDone, () => db.transaction((tx) => setState(tx, 'x', '1'))),
      (isDone: () => boolean) => loop(isDone, () => findState(db.read, 'x')),
      (isDone: () => boolean) => db.transaction((tx) => loop(isDone, () => setState(tx, 'x', '1'))),
    ]
    for (const work of works) {
      let timers = 0
      const timer = setInterval(() => {
        timers += 1
      }, 1)
      const startedMs = performance.now()
      await work(() => timers >= 5 || performance.now() - startedMs > 5_000)
      clearInterval(timer)
      expect(timers).toBeGreaterThanOrEqual(5)
    }
  })

  it('reads the last commit while a transaction waits for the next turn', async () => {
    const db = await open()
    await db.transaction((tx) => setState(tx, 'x', 'before'))
    const running = db.transaction(async (tx) => {
      await setState(tx, 'x', 'after')
      for (let count = 0; count < 2000; count += 1) await findState(tx, 'x')
    })
    const seen = new Set<string | undefined>()
    let isRunning = true
    void running.finally(() => {
      isRunning = false
    })
    while (isRunning) seen.add(await findState(db.read, 'x'))
    seen.add(await findState(db.read, 'x'))
    expect([...seen]).toEqual(['before', 'after'])
  })

  it('keeps the order of transactions across event loop turns', async () => {
    const db = await open()
    const seen: number[] = []
    const one = (number: number) =>
      db.transaction(async (tx) => {
        // Each holds the loop long enough that the next begins in another turn.
        await sql`with recursive "n" ("i") as (select 1 union all select "i" + 1 from "n" where "i" < 30000)
          select max("i") from "n"`.execute(tx)
        seen.push(number)
      })
    await Promise.all([1, 2, 3, 4, 5, 6].map(one))
    expect(seen).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('is unavailable while the disk is full', async () => {
    const db = await open()
    await db.transaction((tx) => setState(tx, 'x', '1'))
    const allow = (pages: number) => db.transaction((tx) => sql.raw(`pragma max_page_count = ${pages}`).execute(tx))
    await allow(1)
    const write = (name: string) => db.transaction((tx) => setState(tx, name, 'much '.repeat(10_000)))
    await expect(write('y')).rejects.toThrow(DatabaseUnavailable)
    expect(await findState(db.read, 'x')).toBe('1')
    await allow(1_000_000)
    await write('y')
    await expect(db.transaction((tx) => sql`select * from "nothing"`.execute(tx))).rejects.not.toBeInstanceOf(
      DatabaseUnavailable,
    )
  })

  it('releases its lock when a transaction cannot begin', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-driver-'))
    const file = join(folder, 'x.db')
    const other = new Database(file)
    const driver = new SqliteDriver({
      database: new Database(file),
      maxTurnMs: 1000,
      onSlow: () => {},
    })
    const handle = new Kysely<Record<string, never>>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => driver,
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    })
    other.exec('create table t (a); begin exclusive')
    const insert = () => handle.transaction().execute((tx) => sql`insert into t values (1)`.execute(tx))
    await expect(insert()).rejects.toThrow(/locked/)
    await expect(insert()).rejects.toThrow(/locked/)
    other.exec('commit')
    other.close()
    await insert()
    await driver.destroy()
    rmSync(folder, { recursive: true })
  })

  it('rejects a caller that waited too long, and serves the next', async () => {
    const mutex = new Mutex('too long', 50)
    await mutex.acquire()
    await expect(mutex.acquire()).rejects.toThrow('too long')
    const next = mutex.acquire()
    mutex.release()
    await next
    mutex.release()
    await mutex.acquire()
  })
})
