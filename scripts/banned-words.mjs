// Words that docs/style.md replaces by the terms of the field. `npm run check` fails on them.

const COMMENT = String.raw`(?:\s+|\s*\n\s*(?:\*|//|#)\s+)`
/** A phrase may continue on the next line of a comment. */
const phrase = (text) => new RegExp(String.raw`\b(?:${text.replaceAll(' ', COMMENT)})\b`, 'gi')

/** Identifiers are split into words before the search, so `accountsRoom` contains `room`. */
export const BANNED = [
  { word: 'whoever', pattern: phrase('whoever') },
  { word: 'tell', pattern: phrase('tells?|telling|told') },
  { word: 'stands', pattern: phrase('stands|stood|standing|stand (?:in|there|open|beside)') },
  { word: 'news', pattern: phrase('news|tidings') },
  { word: 'no more', pattern: phrase('no more(?! than)') },
  { word: 'so already', pattern: phrase('so already') },
  { word: 'look at', pattern: phrase('(?:look|looks|looked|looking) (?:at|soon)') },
  { word: 'hear of', pattern: phrase('(?:hear|hears|heard) of') },
  { word: 'in step', pattern: phrase('in step') },
  { word: 'bring forward', pattern: phrase('(?:bring|brings|brought|bringing)(?: it| them)? forward') },
  { word: 'room', pattern: phrase('(?<!(?:has|make|makes|leaves?) )rooms?(?! for| \\d)') },
  { word: 'house', pattern: phrase('houses?') },
  { word: 'ground', pattern: phrase('grounds?') },
  { word: 'upkeep', pattern: phrase('upkeep') },
  { word: 'mails', pattern: phrase('mails') },
  { word: 'lane', pattern: phrase('lanes?') },
  { word: 'stand-in', pattern: phrase('stand(?:-| )ins?') },
]

/** Files that may use some of the words, or all, and the reason. */
const ALLOWED = [
  { file: 'docs/specification.md', why: 'the contract, quoted' },
  { file: 'docs/style.md', why: 'names the words it replaces' },
  { file: 'scripts/banned-words.mjs', why: 'names them' },
  { file: 'scripts/banned-words.test.mjs', why: 'names them' },
  { file: 'scripts/check-text.test.mjs', words: ['whoever'], why: 'tests that the check fails on it' },
  {
    file: 'src/platform/calendar/generated/windows-names.ts',
    words: ['tell'],
    why: 'America/Indiana/Tell_City is a time zone',
  },
  {
    file: 'src/platform/calendar/generated/zone-table.ts',
    words: ['tell'],
    why: 'America/Indiana/Tell_City is a time zone',
  },
  { file: 'src/providers/imap/sync/sync-folder.test.ts', words: ['mails'], why: "dbox-Mails is a folder of Dovecot's" },
  { file: 'src/mail/sync/folders/repairs.test.ts', words: ['mails'], why: "dbox-Mails is a folder of Dovecot's" },
]

const SEARCHED = /^(?:(?:src|test|bench|scripts|docs)\/.*|README\.md)$/
const TEXT = /\.(?:ts|tsx|mjs|css|md)$/

/**
 * @param {string} file path in the project
 * @param {string} text its content
 * @returns {{ word: string, found: string, file: string, line: number }[]} uses of banned words; line 0 is the file's name
 */
export function bannedWords(file, text) {
  if (!SEARCHED.test(file) || !TEXT.test(file)) return []
  const allowed = ALLOWED.find((entry) => entry.file === file)
  if (allowed !== undefined && allowed.words === undefined) return []
  const name = apart(file).replaceAll(/[-_./]/g, ' ')
  const content = apart(text)
  return BANNED.filter(({ word }) => !allowed?.words.includes(word)).flatMap(({ word, pattern }) => [
    ...[...name.matchAll(pattern)].map(([found]) => ({ word, found, file, line: 0 })),
    ...[...content.matchAll(pattern)].map(({ 0: found, index }) => ({
      word,
      found: found.replaceAll(/\s+/g, ' '),
      file,
      line: content.slice(0, index).split('\n').length,
    })),
  ])
}

/** Splits camelCase and snake_case into words without adding lines. */
function apart(text) {
  return text.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').replaceAll('_', ' ')
}

/** Uses per word and folder, as lines of a table; the most frequent word first. */
export function bannedWordsTable(uses) {
  const folders = [...new Set(uses.map(({ file }) => folderOf(file)))].sort()
  const count = (word, folder) => uses.filter((use) => use.word === word && folderOf(use.file) === folder).length
  const rows = BANNED.map(({ word }) => {
    const counts = folders.map((folder) => count(word, folder))
    return { word, counts, total: counts.reduce((sum, each) => sum + each, 0) }
  }).sort((one, other) => other.total - one.total)
  const totals = folders.map((folder) => uses.filter(({ file }) => folderOf(file) === folder).length)
  const width = Math.max(...folders.map((folder) => folder.length), 6)
  const line = (name, cells, total) =>
    `${name.padEnd(14)}${[...cells, total].map((cell) => String(cell).padStart(width + 1)).join('')}`
  return [
    line('', folders, 'total'),
    ...rows.map(({ word, counts, total }) => line(word, counts, total)),
    line('total', totals, uses.length),
  ]
}

/** `src/mail`, `test`, `docs` … */
function folderOf(file) {
  const [first = '', second = ''] = file.split('/')
  if (first === 'src' && file.split('/').length > 2) return `src/${second}`
  return file.includes('/') ? first : file
}
