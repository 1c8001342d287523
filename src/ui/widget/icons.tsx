import type { ComponentChildren } from 'preact'

/** Line icons on a 24 px grid, as on the hosted pages. They are decoration: the text beside them carries the meaning. */
function Icon({ children, flips }: { children: ComponentChildren; flips?: boolean }) {
  return (
    <svg viewBox="0 0 24 24" class={flips ? 'icon flips' : 'icon'} aria-hidden="true" focusable="false">
      {children}
    </svg>
  )
}

export const PreviousIcon = () => (
  <Icon flips>
    <path d="m15 6-6 6 6 6" />
  </Icon>
)
export const NextIcon = () => (
  <Icon flips>
    <path d="m9 6 6 6-6 6" />
  </Icon>
)
export const BackIcon = () => (
  <Icon flips>
    <path d="M19 12H5" />
    <path d="m11 6-6 6 6 6" />
  </Icon>
)
export const ClockIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 7.5V12l3 2" />
  </Icon>
)
export const CalendarIcon = () => (
  <Icon>
    <rect x="4" y="5.5" width="16" height="14.5" rx="3" />
    <path d="M4 10h16M8.5 3.5v4M15.5 3.5v4" />
  </Icon>
)
export const GlobeIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17" />
  </Icon>
)
export const CheckIcon = () => (
  <Icon>
    <path d="m5 12.5 4.5 4.5L19 7.5" />
  </Icon>
)
export const AlertIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 8v4.5M12 15.9v.1" />
  </Icon>
)
export const LinkIcon = () => (
  <Icon>
    <path d="M14 5h5v5M19 5l-8 8" />
    <path d="M18 14v3a2.5 2.5 0 0 1-2.5 2.5h-8A2.5 2.5 0 0 1 5 17V9a2.5 2.5 0 0 1 2.5-2.5h3" />
  </Icon>
)
