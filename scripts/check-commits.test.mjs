import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkCommits } from './check-commits.mjs'

const made = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true })
})

const LONG = `app: ${'x'.repeat(68)}`
const LONGEST = `app: ${'é'.repeat(67)}`

function folder() {
  const path = mkdtempSync(join(tmpdir(), 'posthorn-commits-'))
  made.push(path)
  return path
}

function git(cwd, ...args) {
  return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    encoding: 'utf8',
  }).trim()
}

/** A repository with a commit of each subject; returns its folder and the hashes. */
function repository(...subjects) {
  const path = folder()
  git(path, 'init', '-q', '-b', 'main')
  const hashes = subjects.map((subject) => {
    git(path, 'commit', '-q', '--allow-empty', '-m', subject)
    return git(path, 'rev-parse', 'HEAD')
  })
  return { path, hashes }
}

function clone(from, ...options) {
  const path = join(folder(), 'clone')
  git(from, 'clone', '-q', ...options, `file://${from}`, path)
  return path
}

describe('commits after the last unchecked one', () => {
  it('are named when their subject is over 72 characters, and only they', () => {
    const { path, hashes } = repository(`${LONG} before`, 'base', LONG, LONGEST)
    const { checked, faults } = checkCommits(path, hashes[1])
    expect(checked).toBe(2)
    expect(faults).toEqual([expect.stringContaining(`the subject has 73 characters, over 72: ${LONG}`)])
  })

  it('are found in a clone with the full history', () => {
    const { path, hashes } = repository(LONG, LONG)
    expect(checkCommits(clone(path), hashes[0])).toMatchObject({ checked: 1, faults: [expect.anything()] })
  })

  it('are all that a shallow clone holds', () => {
    const { path, hashes } = repository(LONG, 'base', 'good', LONG)
    expect(checkCommits(clone(path, '--depth=2'), hashes[1])).toMatchObject({ checked: 2, faults: [expect.anything()] })
    expect(checkCommits(clone(path, '--depth=3'), hashes[1])).toMatchObject({ checked: 2, faults: [expect.anything()] })
  })
})

describe('in another history', () => {
  const UNKNOWN = 'a'.repeat(40)

  it('the commits that the upstream branch lacks are checked', () => {
    const { path } = repository(LONG)
    const ours = clone(path)
    git(ours, 'commit', '-q', '--allow-empty', '-m', LONG)
    expect(checkCommits(ours, UNKNOWN)).toMatchObject({ checked: 1, faults: [expect.anything()] })
  })

  it('nothing is checked without an upstream branch or without a repository', () => {
    expect(checkCommits(repository(LONG).path, UNKNOWN)).toEqual({ checked: 0, faults: [], note: expect.anything() })
    expect(checkCommits(folder())).toEqual({ checked: 0, faults: [], note: expect.anything() })
  })
})
