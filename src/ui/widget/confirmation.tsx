import type { ComponentChildren } from 'preact'
import { calendarLinks } from '../booking/calendar-links.ts'
import type { Booking } from './api.ts'
import type { Slot } from './days.ts'
import { CalendarIcon, CheckIcon, ClockIcon, GlobeIcon, LinkIcon } from './icons.tsx'
import { StepHeading } from './notices.tsx'
import { useView } from './view.ts'

/** When a slot is, as a list for the form and the confirmation. */
export function When({ slot, children }: { slot: Slot; children?: ComponentChildren }) {
  const { formats } = useView()
  return (
    <ul class="facts">
      <li>
        <CalendarIcon />
        <span>{formats.fullDay(slot)}</span>
      </li>
      <li>
        <ClockIcon />
        <bdi>{formats.timeRange(slot)}</bdi>
      </li>
      <li>
        <GlobeIcon />
        <span>{formats.zone}</span>
      </li>
      {children}
    </ul>
  )
}

interface ConfirmationProps {
  booking: Booking
  /** The title of the experience. */
  title: string
  isMoved: boolean
}

/** The last step. Links open a page of their own, because the widget may be in a frame. */
export function Confirmation({ booking, title, isMoved }: ConfirmationProps) {
  const { t } = useView()
  const { reschedule, cancel } = booking.links ?? {}
  const isPending = booking.status === 'pending'
  return (
    <div class="done">
      <div class="badge">
        <CheckIcon />
      </div>
      <StepHeading>{t(isMoved ? 'movedTitle' : isPending ? 'pendingTitle' : 'bookedTitle')}</StepHeading>
      <When slot={booking.slot}>
        {isWebAddress(booking.joinUrl) && (
          <li>
            <LinkIcon />
            <a href={booking.joinUrl} target="_blank" rel="noopener noreferrer">
              {t('join')}
            </a>
          </li>
        )}
      </When>
      <MessageNote booking={booking} />
      {!isPending && <AddToCalendar booking={booking} title={title} />}
      {!isMoved && (isWebAddress(reschedule) || isWebAddress(cancel)) && (
        <p class="links">
          {isWebAddress(reschedule) && <NewPage href={reschedule}>{t('reschedule')}</NewPage>}
          {isWebAddress(cancel) && <NewPage href={cancel}>{t('cancel')}</NewPage>}
        </p>
      )}
    </div>
  )
}

/** Says which message the guest gets. */
function MessageNote({ booking }: { booking: Booking }) {
  const { t } = useView()
  const { email = '' } = booking.guest ?? {}
  if (booking.sendsMessages === false) return <p class="lead">{t('noMessage')}</p>
  if (booking.sendsMessages === undefined || email === '') return null
  if (booking.status === 'pending') return <p class="lead">{t('pendingMessage', { email })}</p>
  return (
    <p class="lead">
      {t('invitationSent', { email })} {booking.needsConfirmation && t('confirmAddress', { email })}
    </p>
  )
}

function AddToCalendar({ booking, title }: Pick<ConfirmationProps, 'booking' | 'title'>) {
  const { t } = useView()
  const { start, end } = booking.slot
  const file = booking.links?.calendar
  return (
    <div class="calendars">
      <h3>{t('addToCalendar')}</h3>
      <p>
        {calendarLinks({ title, start, end, joinUrl: booking.joinUrl }).map(({ name, href }) => (
          <NewPage href={href}>{name}</NewPage>
        ))}
        {isWebAddress(file) && <NewPage href={file}>.ics</NewPage>}
      </p>
    </div>
  )
}

function NewPage({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** Never a `javascript:` link. */
function isWebAddress(url: string | null | undefined): url is string {
  return url != null && /^https?:\/\//i.test(url)
}
