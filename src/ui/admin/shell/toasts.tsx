import { Notifications, useNotifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'

const POSITIONS = { desktop: 'bottom-left', phone: 'top-center' } as const
export type Place = keyof typeof POSITIONS

const MARGIN = 16

/**
 * Messages about what was done. They appear above the user in the navigation, and on phones between the header and the page. `ToastSpace`
 * keeps that place free, so that they never cover a control.
 */
export function Toasts({ place, width }: { place: Place; width: number }) {
  return (
    <Notifications
      className="toasts"
      // Another place is another element, which `ToastSpace` measures.
      key={place}
      position={POSITIONS[place]}
      // Above dialogs, so that an error of theirs can be read.
      zIndex={400}
      {...(place === 'desktop' && { containerWidth: width })}
    />
  )
}

/** As high as the toasts that are shown at this place. */
export function ToastSpace({ place }: { place: Place }) {
  const [height, setHeight] = useState(0)
  const hasToasts = useNotifications().notifications.length > 0
  useEffect(() => {
    const toasts = document.querySelector(`.toasts[data-position="${POSITIONS[place]}"]`)
    if (!hasToasts || toasts === null) return
    const observer = new ResizeObserver(() => setHeight(toasts.getBoundingClientRect().height))
    observer.observe(toasts)
    return () => {
      observer.disconnect()
      setHeight(0)
    }
  }, [place, hasToasts])
  return <div className="toast-space" style={{ height: height === 0 ? 0 : height + MARGIN }} />
}
