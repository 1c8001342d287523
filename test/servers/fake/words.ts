/** Whether a text contains the words of a phrase, one after the other, in any case. `isPrefix`: the last one may continue. */
export function containsPhrase(text: string, phrase: string, isPrefix = false): boolean {
  const [words, wanted] = [splitWords(text), splitWords(phrase)]
  const matches = (word: string | undefined, at: number) => {
    const expected = wanted[at] ?? ''
    return isPrefix && at === wanted.length - 1 ? word?.startsWith(expected) === true : word === expected
  }
  return wanted.length > 0 && words.some((_, start) => wanted.every((__, at) => matches(words[start + at], at)))
}

/** Rows of characters without spaces are one word for each character, as both providers find any part of them. */
function splitWords(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|[\p{L}\p{N}\p{M}]+/gu) ?? []
}
