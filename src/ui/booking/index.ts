/**
 * The pages that guests see: booking an experience, the same in a frame, and one booking with what its guest can do. Rendered on
 * the server, with the widget of `ui/widget` as their only script. They know nothing of experiences or bookings.
 */
export { bookPage, embedPage } from './book-page.ts'
export { type BookingErrorPage, bookingErrorPage } from './error-page.ts'
export type { BookingContext } from './layout.ts'
export { bookingQuery, type ManagedBooking, managePage } from './manage-page.ts'
export { bookingHeaders } from './page-headers.ts'
export { bookingTexts } from './texts/index.ts'
