import { describe, expect, it } from 'vitest'
import { BOOKING_LANGUAGES } from '../../booking/texts/index.ts'
import { chooseLocale, LANGUAGES, translate } from './index.ts'
import { STEP_LANGUAGES } from './steps/index.ts'

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()

describe.each(Object.keys(LANGUAGES))('the texts in %s', (language) => {
  it.each(['widget', 'pages'])(
    'of the %s are complete and translated, with the placeholders of the English ones',
    async (part) => {
      const load = async (name: string): Promise<Record<string, string>> =>
        part === 'widget'
          ? { ...(await LANGUAGES[name]?.())?.texts, ...(await STEP_LANGUAGES[name]?.())?.texts }
          : { ...BOOKING_LANGUAGES[name] }
      const [english, texts] = [await load('en'), await load(language)]
      expect(Object.keys(texts)).toEqual(Object.keys(english))
      for (const [key, text] of Object.entries(texts)) {
        const source = english[key] ?? ''
        expect([key, text.trim(), placeholders(text)]).toEqual([key, text, placeholders(source)])
        if (language !== 'en' && source.split(' ').length > 3) expect([key, text]).not.toEqual([key, source])
      }
    },
  )
})

describe('the locale', () => {
  it.each([
    [['de-AT', 'fr'], 'de-AT', 'de', 'ltr'],
    [[null, 'xx', 'ar'], 'ar', 'ar', 'rtl'],
    [['en', 'fr', 'en-GB'], 'en-GB', 'en', 'ltr'],
    [['not a tag!', 'pt_BR'], 'pt-BR', 'pt', 'ltr'],
    [['sv', '__proto__'], 'en', 'en', 'ltr'],
  ])('of %j is %s', (tags, tag, language, direction) => {
    expect(chooseLocale(tags)).toMatchObject({ tag, language, direction })
  })

  it.each([
    ['en-US', 7],
    ['de', 1],
    ['ar-EG', 6],
  ])('%s begins its weeks on day %i', (tag, firstDayOfWeek) => {
    expect(chooseLocale([tag])).toMatchObject({ firstDayOfWeek })
  })
})

it('texts of the experience replace those of the widget, by key or by language and key', async () => {
  const texts = { ...(await LANGUAGES.de?.())?.texts, ...(await STEP_LANGUAGES.de?.())?.texts }
  const t = translate(texts, 'de', { submit: 'Go', de: { back: 'Retour {x}' }, retry: 3 })
  expect([t('submit'), t('back'), t('retry'), t('codeText', { email: '{key}' })]).toEqual([
    'Go',
    'Retour {x}',
    'Erneut versuchen',
    expect.stringContaining('{key}'),
  ])
})
