import { expect, it } from 'vitest'
import { bannedWords, bannedWordsTable } from './banned-words.mjs'

const found = (text, file = 'src/a.ts') => bannedWords(file, text).map(({ word, line }) => `${word} ${line}`)

it.each([
  ['// whoever asks', ['whoever 1']],
  ['x\n// It tells the owner, who was told before.', ['tell 2', 'tell 2']],
  ['const accountsRoom = waitingRooms(GROUND_FLOOR)', ['room 1', 'room 1', 'ground 1']],
  ['/**\n * What is looked\n * at twice is brought\n * forward.\n */', ['look at 2', 'bring forward 3']],
  ['// The header stands there twice; it is no more.', ['stands 1', 'no more 1']],
  ['// The standing session hears of the news.', ['hear of 1', 'news 1', 'stands 1']],
  ['const standIn = lanes.mails', ['mails 1', 'lane 1', 'stand-in 1', 'stands 1']],
])('%s', (text, expected) => {
  expect(found(text).sort()).toEqual([...expected].sort())
})

it('ignores longer words, plain English, and files that it does not search', () => {
  expect(found('background groundwork emails planes mailbox outstanding newsletter')).toEqual([])
  expect(found('no more than 25 s; the licence has room; room for one; Room 4')).toEqual([])
  expect(found('whoever', 'docs/specification.md')).toEqual([])
  expect(found('whoever', 'openapi.json')).toEqual([])
})

it('finds a word in the name of a file', () => {
  expect(bannedWords('test/kit/accounts-room.ts', '')).toMatchObject([{ word: 'room', line: 0 }])
})

it('counts uses per word and folder, the most frequent word first', () => {
  const uses = [
    ...bannedWords('src/mail/a/b.ts', 'whoever tells'),
    ...bannedWords('docs/a.md', 'told\ntold'),
    ...bannedWords('README.md', 'told'),
  ]
  const table = bannedWordsTable(uses).map((line) => line.trim().split(/\s+/))
  expect(table[0]).toEqual(['README.md', 'docs', 'src/mail', 'total'])
  expect(table[1]).toEqual(['tell', '1', '2', '1', '4'])
  expect(table[2]).toEqual(['whoever', '0', '0', '1', '1'])
  expect(table.at(-1)).toEqual(['total', '1', '2', '2', '5'])
})
