import { isBirthday } from '../../contract/index.ts'
import type { CardLine } from './card.ts'

/** The year of a day whose year is not known, in programs that must write one. */
const NO_YEAR = '1604'

/** `1985-04-12` of `19850412`, with or without a time; `--04-12` of `--0412`. Null: it says something else. */
export function readBirthday({ value, parameters }: CardLine): string | null {
  const [, year = '', month = '', day = ''] = /^\s*(\d{4}|-)-?(\d{2})-?(\d{2})(?:[T\s].*)?\s*$/.exec(value) ?? []
  const isYearOmitted = year === NO_YEAR || parameters.get('X-APPLE-OMIT-YEAR')?.[0] === year
  const found = `${year === '-' || isYearOmitted ? '-' : year}-${month}-${day}`
  return isBirthday(found) ? found : null
}

/** The line for a day, in the version of the card. */
export function birthdayLine(birthday: string, version: string): string {
  const hasYear = !birthday.startsWith('--')
  if (version.startsWith('4'))
    return `BDAY:${hasYear ? birthday.replaceAll('-', '') : `--${birthday.slice(2).replace('-', '')}`}`
  if (hasYear) return `BDAY;VALUE=date:${birthday}`
  return `BDAY;X-APPLE-OMIT-YEAR=${NO_YEAR};VALUE=date:${NO_YEAR}-${birthday.slice(2)}`
}
