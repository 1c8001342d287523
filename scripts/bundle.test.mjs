import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadEachFile } from '../test/scenarios/loaded-files.ts'

const programs = readdirSync('dist').filter((name) => name.endsWith('.js'))
const read = (name) => readFileSync(`dist/${name}`)

describe('the built service', () => {
  it('is ASCII, because Node holds any other source in two bytes per character', () => {
    expect(programs.filter((name) => read(name).some((byte) => byte > 127))).toEqual([])
  })

  it('can load each of its files, those of threads in a thread', async () => {
    const loaded = await loadEachFile(process.execPath)
    expect(loaded).toEqual(expect.arrayContaining(['imap-worker.js', expect.stringMatching(/^busboy-/)]))
  })

  it('has each table of an encoding that its files name', () => {
    const named = programs.flatMap(
      (name) =>
        read(name)
          .toString()
          .match(/encodings\/[\w-]+\.json/g) ?? [],
    )
    expect(named).toContain('encodings/shiftjis.json')
    for (const name of named) expect(() => JSON.parse(read(name).toString())).not.toThrow()
  })

  it('loads the clients of PostgreSQL and Redis only where they are used', () => {
    const loaded = new Set(['posthorn.js'])
    for (const name of loaded) {
      for (const [, other] of read(name)
        .toString()
        .matchAll(/(?:from|import)"\.\/([^"]+)"/g))
        loaded.add(other)
    }
    const source = [...loaded].map((name) => read(name).toString()).join('')
    expect(source).not.toMatch(/node_modules\/(pg|ioredis|bullmq|imapflow|htmlparser2)\//)
  })
})
