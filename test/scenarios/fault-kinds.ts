import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { Fault } from './faults.ts'

const run = promisify(execFile)

/** Fills the file system of the folder. */
export function diskFull(folder: string): Fault {
  const filler = join(folder, 'filler')
  return {
    name: 'disk full',
    says: /its disk (is full|cannot be read or written)/,
    fails: true,
    async begin() {
      for (let bytes = 8 * 1024 * 1024; bytes >= 4096; bytes = Math.floor(bytes / 2)) appendUntilFull(filler, bytes)
    },
    end: async () => rmSync(filler),
  }
}

function appendUntilFull(file: string, bytes: number): void {
  try {
    for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

/** Makes every change of a file system of `read_only_files.py` fail with EROFS. */
export function readOnlyDisk(switchFile: string): Fault {
  return {
    name: 'read-only disk',
    says: /its disk cannot be read or written/,
    fails: true,
    begin: async () => writeFileSync(switchFile, ''),
    end: async () => rmSync(switchFile),
  }
}

/** Leaves the process no descriptor for further files and connections. */
export function noOpenFiles(): Fault {
  const held: Socket[] = []
  const limit = (pid: number, count: number) => run('prlimit', ['--pid', String(pid), `--nofile=${count}:`])
  return {
    name: 'no open files',
    says: /open files|its disk cannot be read or written/,
    fails: false,
    mayReset: true,
    async begin({ pid, port }) {
      await limit(pid, readdirSync(`/proc/${pid}/fd`).length)
      for (let opened = 0; opened < 60; opened += 1) held.push(await connected(port))
    },
    async end({ pid }) {
      await limit(pid, 1000)
      for (const socket of held) socket.destroy()
    },
  }
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Needs libfaketime in the process, reading `file`. */
export function clockJump(file: string, offset: '+1h' | '-1h'): Fault {
  return {
    name: `clock ${offset}`,
    says: /^no message$/,
    fails: false,
    begin: async () => writeFileSync(file, offset),
    end: async () => writeFileSync(file, '+0'),
  }
}

/** Suspends every process of the server. */
export function frozenPostgres(url: string): Fault {
  let pids: number[] = []
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids) process.kill(pid, name)
  }
  return {
    name: 'frozen PostgreSQL',
    says: /does not respond|has no connections left|cannot reach its server/,
    fails: true,
    async begin() {
      const [row] = await administer(url, ["select pid from pg_stat_activity where backend_type = 'checkpointer'"])
      const postmaster = readParent(Number(row?.pid))
      pids = [postmaster, ...findChildren(postmaster)]
      signal('SIGSTOP')
    },
    end: async () => signal('SIGCONT'),
  }
}

const readStat = (pid: number | string) => readFileSync(`/proc/${pid}/stat`, 'utf8')
const readParent = (pid: number | string) => Number(readStat(pid).split(') ')[1]?.split(' ')[1])

function findChildren(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readParent(name) === parent ? [Number(name)] : []
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}

/** As after a failover: every session, also those that exist, accepts no writes. */
export function readOnlyPostgres(url: string): Fault {
  const set = (value: 'on' | 'off') =>
    administer(url, [
      'set default_transaction_read_only = off',
      `alter system set default_transaction_read_only = ${value}`,
      'select pg_reload_conf()',
    ])
  return {
    name: 'read-only PostgreSQL',
    says: /it accepts no writes/,
    fails: true,
    begin: async () => void (await set('on')),
    end: async () => void (await set('off')),
  }
}

async function administer(url: string, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) ({ rows } = await connection.query(statement))
    return rows
  } finally {
    await connection.end()
  }
}

/** Deletes all keys again and again. */
export function flushedRedis(url: string): Fault {
  return repeatedInRedis('flushed Redis', url, async (redis) => void (await redis.flushall()))
}

const POISON = ['null', '[null]', '{"from":"x","filters":[null]}', '{"key":null}', '{"__proto__":1}', '9'.repeat(400)]
const TOPICS = ['logs.watch', 'logs.tail', 'logs.ask', 'logs.answer', 'accounts.sync', 'webhooks.due', 'jobs:deliver']

/** Publishes what nobody expects, and replaces keys by values of other types and forms. */
export function poisonedRedis(url: string): Fault {
  return repeatedInRedis('poisoned Redis', url, async (redis) => {
    for (const topic of TOPICS) for (const value of POISON) await redis.publish('posthorn:bus', `x\n${topic}\n${value}`)
    const keys = await redis.keys('posthorn:*')
    for (const [index, key] of keys.entries()) {
      const type = await redis.type(key)
      if (type === 'hash') await redis.hset(key, 'data', POISON[index % POISON.length] ?? '', 'delay', 'null')
      else if (type === 'string') await redis.set(key, POISON[index % POISON.length] ?? '', 'KEEPTTL')
      else if (index % 2 === 0) await redis.del(key).then(() => redis.set(key, 'another type', 'PX', 2000))
    }
  })
}

function repeatedInRedis(name: string, url: string, harm: (redis: Redis) => Promise<void>): Fault {
  let redis: Redis | undefined
  let timer: NodeJS.Timeout | undefined
  return {
    name,
    says: /^no message$/,
    fails: false,
    async begin() {
      const connection = new Redis(url)
      redis = connection
      await harm(connection)
      timer = setInterval(() => void harm(connection).catch(() => {}), 1000)
    },
    async end() {
      clearInterval(timer)
      await redis?.quit()
    },
  }
}
