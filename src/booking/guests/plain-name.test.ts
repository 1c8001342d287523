import { expect, it } from 'vitest'
import { plainName } from './plain-name.ts'

it('keeps what can only be a name', () => {
  for (const name of [
    'Ada Lovelace',
    "Siobhán O'Connor",
    'D’Arcy',
    'Anne-Marie St. John',
    'Dr. J. R. R. Tolkien',
    'Okafor, Ada',
    'Nguyễn Thị Minh Khai',
    'Łukasz Żółć',
    'Иван Петров',
    'Ελένη Παπαδοπούλου',
    '山田 太郎',
    'スミス ジョージ',
    '김민수',
    'محمد علي',
    'प्रिया शर्मा',
    'אברהם',
    'A',
  ]) {
    expect([name, plainName(name)]).toEqual([name, name.normalize('NFKC')])
  }
  expect(plainName('  Ada   Lovelace ')).toBe('Ada Lovelace')
  // Compatible letters become the usual ones, so that what is checked is what is shown.
  expect(plainName('Ａｄａ')).toBe('Ada')
})

it('leaves out what could be a message, a host or a number', () => {
  for (const name of [
    '',
    'evil.example',
    'evil.example/x',
    'Ada evil.example',
    'evil。example',
    'evil．example',
    'evil｡example',
    'evil․example',
    'evilꓸexample',
    'evil·example',
    '𝐞𝐯𝐢𝐥.𝐞𝐱𝐚𝐦𝐩𝐥𝐞',
    'https://evil.example',
    'www evil example',
    'Ada @evil',
    'ada@evil.example',
    'Call 555 0100',
    'Ada 1',
    'Ada ١',
    'Win\u202Elmth',
    'Ada\u200BLovelace',
    'A\u00ADda',
    'Ada\nLovelace',
    'Ada\tLovelace',
    'Ada <b>x</b>',
    'Ada!',
    'Ada: pay now',
    'Аda Lovelace',
    'Adα',
    'You have won please write to us today',
    'A'.repeat(61),
    'Z\u0335\u0336\u0337\u0338\u0321\u0322algo',
    '.Ada',
    '-Ada',
    'Ada..',
  ]) {
    expect([name, plainName(name)]).toEqual([name, ''])
  }
})
