// Names new commits whose subject is over 72 characters. `node scripts/check-commits.mjs` prints them and exits 1 when there are any.
import { spawnSync } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const MAX_CHARACTERS = 72
/** The last commit from before the rule; the history up to it stays as it is. */
const LAST_UNCHECKED = 'c90234603f015b97cada68e5c21a2a612167d3ae'
/** Longer subjects that were on main before anyone ran this check. Main is never rewritten, so they stay. */
const NOTICED_TOO_LATE = new Set([
  'd8145b8b65fef95a9500843efada3cd1f71a2914',
  'ae4f5867713f1dfa8fea60a855473b885db5256b',
  'b3cd2d4f031c0d15186390a1b9dcb5826ee4bb64',
])

/**
 * @param {string} folder a work tree
 * @param {string} lastUnchecked
 * @returns {{ checked: number, faults: string[], note?: string }} the note says why nothing could be checked
 */
export function checkCommits(folder, lastUnchecked = LAST_UNCHECKED) {
  const git = (...args) => {
    const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
    return status === 0 ? stdout.trim() : undefined
  }
  const range = newCommits(git, lastUnchecked)
  const listed = range && git('log', '--no-merges', '--format=%H %s', ...range)
  if (listed === undefined)
    return {
      checked: 0,
      faults: [],
      note: 'Cannot find the new commits: the history is incomplete and the branch has no upstream.',
    }
  const commits = listed.split('\n').filter((line) => line !== '')
  return { checked: commits.length, faults: commits.flatMap(findFault) }
}

/** The arguments of `git log` that list them; undefined when that cannot be known. */
function newCommits(git, lastUnchecked) {
  if (git('merge-base', '--is-ancestor', lastUnchecked, 'HEAD') !== undefined) return [`${lastUnchecked}..HEAD`]
  // A shallow clone ends after that commit, so all its commits are newer.
  if (git('rev-parse', '--is-shallow-repository') === 'true') return ['HEAD']
  const fork = git('merge-base', 'HEAD', '@{upstream}')
  return fork === undefined ? undefined : [`${fork}..HEAD`]
}

function findFault(line) {
  const [, hash, subject] = /^(\S+) (.*)$/.exec(line) ?? ['', line, '']
  const { length } = [...subject]
  return length > MAX_CHARACTERS && !NOTICED_TOO_LATE.has(hash)
    ? [`${hash.slice(0, 8)}: the subject has ${length} characters, over ${MAX_CHARACTERS}: ${subject}`]
    : []
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { checked, faults, note } = checkCommits(resolve(dirname(process.argv[1]), '..'))
  for (const fault of faults) console.log(fault)
  console.log(note ?? `${checked} new commits, ${faults.length} with a subject that is too long`)
  process.exitCode = faults.length > 0 ? 1 : 0
}
