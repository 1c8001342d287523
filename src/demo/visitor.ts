import { systemClock } from '../platform/time/clock.ts'
import { bookAsGuest } from './booking.ts'
import { browser, type Page } from './browser.ts'

/** Uses the application as a person would, without a screen: for `--once`. */
export interface Visitor {
  /** Clicks "Connect a mailbox" and goes through the pages until the application shows its page again. */
  connect(): Promise<void>
  /** Clicks "Send me a message". */
  requestMessage(): Promise<void>
  /** Books a time, as the page does. */
  book(bookingUrl: string): Promise<void>
}

const MAX_PAGES = 12

export function visitor(
  applicationUrl: string,
  signIn: Readonly<Record<string, string>> = {},
  now = systemClock.now,
): Visitor {
  const home = `${applicationUrl}/`
  const { open, submit } = browser()

  /** Presses the button of the application's page that posts to this path. */
  async function click(action: string): Promise<Page> {
    return submit({ ...(await open(home)), form: { action, fields: {} } }, {})
  }

  return {
    async connect() {
      let page = await click('/connect')
      for (let count = 0; count < MAX_PAGES && page.url !== home; count += 1) {
        const values = page.form?.fields.password === undefined ? {} : signIn
        page = page.continueUrl === undefined ? await submit(page, values) : await open(page.continueUrl)
      }
      if (page.url !== home)
        throw new Error(`The pages did not return to the application. The last one is "${page.title}".`)
    },
    async requestMessage() {
      await click('/send')
    },
    book: (bookingUrl) => bookAsGuest(bookingUrl, now()),
  }
}
