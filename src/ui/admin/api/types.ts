/** The objects of the API, by the names that the pages use. */
export type { Overview, Rates } from '../../../features/admin/overview/api.ts'
export type {
  Account,
  Calendar,
  CalendarEvent,
  DebouncedQueueAccount,
  DetailedHealth as Health,
  Draft,
  Label,
  List,
  LogEntry,
  Message,
  MessageDetail,
  OutboxMessage,
  Pagination,
  WebhookDelivery as Delivery,
  WebhookEndpoint as Endpoint,
} from './schemas.ts'
