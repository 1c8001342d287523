import type { ComponentChildren } from 'preact'
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
  /** The guest's address. */
  email: string
  isMoved: boolean
}

/** The last step. Links open a page of their own, because the widget may be in a frame. */
export function Confirmation({ booking, email, isMoved }: ConfirmationProps) {
  const { t } = useView()
  const { reschedule, cancel } = booking.links ?? {}
  const title = isMoved ? 'movedTitle' : booking.status === 'pending' ? 'pendingTitle' : 'bookedTitle'
  return (
    <div class="done">
      <div class="badge">
        <CheckIcon />
      </div>
      <StepHeading>{t(title)}</StepHeading>
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
      {booking.needsConfirmation && email !== '' && <p class="lead">{t('confirmAddress', { email })}</p>}
      {!isMoved && (isWebAddress(reschedule) || isWebAddress(cancel)) && (
        <p class="links">
          {isWebAddress(reschedule) && (
            <a href={reschedule} target="_blank" rel="noopener noreferrer">
              {t('reschedule')}
            </a>
          )}
          {isWebAddress(cancel) && (
            <a href={cancel} target="_blank" rel="noopener noreferrer">
              {t('cancel')}
            </a>
          )}
        </p>
      )}
    </div>
  )
}

/** Never a `javascript:` link. */
function isWebAddress(url: string | null | undefined): url is string {
  return url != null && /^https?:\/\//i.test(url)
}
