const MAX_CHARACTERS = 60
const MAX_WORDS = 6
/** Letters of one alphabet, with their marks. Others could be shaped like its letters, or like dots and slashes. */
const ALPHABETS = [
  ['Latin'],
  ['Greek'],
  ['Cyrillic'],
  ['Armenian'],
  ['Georgian'],
  ['Hebrew'],
  ['Arabic'],
  ['Devanagari'],
  ['Bengali'],
  ['Gujarati'],
  ['Gurmukhi'],
  ['Kannada'],
  ['Malayalam'],
  ['Tamil'],
  ['Telugu'],
  ['Sinhala'],
  ['Thai'],
  ['Lao'],
  ['Khmer'],
  ['Myanmar'],
  ['Ethiopic'],
  ['Han', 'Hiragana', 'Katakana'],
  ['Hangul'],
].map((scripts) => {
  const letters = scripts.map((script) => `\\p{Script=${script}}`).join('')
  // U+30FC lengthens Japanese vowels and belongs to no script.
  return new RegExp(`^(?:(?=\\p{L})[${letters}\\u30FC]\\p{M}{0,4})+$`, 'u')
})
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u
const WORD = /^(?<letters>[\p{L}\p{M}]+(?:['\u2019-][\p{L}\p{M}]+)*)(?<end>[.,]?)$/u
/** Words that begin a web address when somebody completes the dots. */
const WEB = /^(?:https?|www|ftp|mailto|tel)$/i

/**
 * The name if it can only be a name, else an empty text. It goes into messages to people whom a stranger named, so that nobody can write
 * to them through it: letters of one alphabet, no digits, no hosts, a few words. Dots and commas only end words.
 */
export function plainName(name: string): string {
  const text = name.normalize('NFKC').trim()
  if (text === '' || text.length > MAX_CHARACTERS || INVISIBLE.test(text)) return ''
  const words = text.split(/ +/)
  if (words.length > MAX_WORDS) return ''
  let letters = ''
  for (const word of words) {
    const found = WORD.exec(word)?.groups?.letters
    if (found === undefined || WEB.test(found)) return ''
    letters += found.replaceAll(/['\u2019-]/g, '')
  }
  return ALPHABETS.some((alphabet) => alphabet.test(letters)) ? words.join(' ') : ''
}
