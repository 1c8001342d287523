import type { Tool } from '../tool.ts'
import { accountTools } from './accounts.ts'
import { attachmentTools } from './attachments.ts'
import { bookingTools } from './booking.ts'
import { calendarTools } from './calendars.ts'
import { contactTools } from './contacts.ts'
import { draftTools } from './drafts.ts'
import { eventChangeTools } from './event-changes.ts'
import { messageChangeTools } from './message-changes.ts'
import { messageTools } from './messages.ts'
import { sendingTools } from './sending.ts'

/** Every tool, always in this order, so that clients can cache the list. */
export const TOOLS: readonly Tool[] = [
  ...accountTools,
  ...messageTools,
  ...attachmentTools,
  ...messageChangeTools,
  ...draftTools,
  ...sendingTools,
  ...contactTools,
  ...calendarTools,
  ...eventChangeTools,
  ...bookingTools,
]
