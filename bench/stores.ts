import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { administer, databaseUrl, findServer } from '../test/kit/database/postgres-server.ts'

/** An empty data folder, and on PostgreSQL an empty database. Both are deleted after `measure`. */
export interface Place {
  dataDir: string
  databaseUrl?: string
}

/** The stores to measure, separated by commas. */
const STORES = (process.env.BENCH_STORES ?? 'file,postgres').split(',')

/** Measures the file store, then PostgreSQL. */
export async function onEachStore(
  say: (line: string) => void,
  measure: (title: string, place: Place) => Promise<void>,
): Promise<void> {
  if (STORES.includes('file')) await withFolder((dataDir) => measure('file store', { dataDir }))
  if (STORES.includes('postgres')) await onPostgres(say, measure)
}

async function onPostgres(
  say: (line: string) => void,
  measure: (title: string, place: Place) => Promise<void>,
): Promise<void> {
  const server = await findServer()
  if (server === undefined) return say('PostgreSQL could not be started.')
  const name = `posthorn_bench_${process.pid}`
  try {
    await administer(server.url, `create database "${name}"`)
    await withFolder((dataDir) => measure('PostgreSQL', { dataDir, databaseUrl: databaseUrl(server.url, name) }))
    await administer(server.url, `drop database "${name}" with (force)`)
  } finally {
    await server.stop()
  }
}

async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  try {
    await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
