import { describe, expect, it } from 'vitest'
import { ProviderError } from '../contract/index.ts'
import { PageSize, withTop } from './page-size.ts'

const tooLarge = () => new ProviderError('unavailable', 'reading: the provider failed (504)', { busy: true })

describe('the page size of a mailbox', () => {
  /** Sizes that were requested, of which those above `limit` fail. */
  function mailbox(limit: number) {
    const asked: number[] = []
    const read = async (messages: number) => {
      asked.push(messages)
      if (messages > limit) throw tooLarge()
      return messages
    }
    return { asked, read }
  }

  it('halves pages that cannot be served, remembers that, and tries larger ones again', async () => {
    const size = new PageSize()
    const box = mailbox(12)
    expect(await size.read(100, box.read)).toBe(12)
    expect(box.asked).toEqual([100, 50, 25, 12])
    box.asked.length = 0
    for (let page = 0; page < 10; page += 1) await size.read(100, box.read)
    expect(box.asked).toEqual([...Array<number>(9).fill(12), 24, 12])
    const healed = mailbox(1000)
    for (let page = 0; page < 40; page += 1) await size.read(100, healed.read)
    expect(healed.asked.at(-1)).toBe(100)
  })

  it('fails when not even five messages can be served', async () => {
    const box = mailbox(4)
    await expect(new PageSize().read(40, box.read)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(box.asked).toEqual([40, 20, 10, 5])
  })

  it.each([
    new ProviderError('unavailable', 'the connection failed'),
    new ProviderError('rate_limited', 'too many requests'),
    new ProviderError('unavailable', 'in a while', { busy: true, retryAfterMs: 60_000 }),
  ])('does not blame the size of the page for %s', async (error) => {
    const asked: number[] = []
    const read = async (messages: number) => {
      asked.push(messages)
      throw error
    }
    await expect(new PageSize().read(100, read)).rejects.toBe(error)
    expect(asked).toEqual([100])
  })

  it('asks for less in a link, and never for more', () => {
    expect(withTop('/me/messages?$select=id&%24top=1000&%24skip=1000', 20)).toBe(
      '/me/messages?$select=id&%24top=20&%24skip=1000',
    )
    expect(withTop('/me/messages?$top=10&$skip=10', 20)).toBe('/me/messages?$top=10&$skip=10')
    expect(withTop('/me/messages?$skiptoken=a', 20)).toBe('/me/messages?$skiptoken=a')
  })
})
