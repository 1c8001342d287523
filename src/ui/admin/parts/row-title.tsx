import { Text } from '@mantine/core'

/** The first cell of a row: what it is, and below what it is about. */
export function RowTitle({ title, about, note }: { title: string; about: string; note?: string | undefined }) {
  return (
    <div className="row-title">
      <Text span inherit fw={550}>
        {title}
      </Text>
      {note !== undefined && (
        <Text span size="xs" c="dimmed">
          {' '}
          {note}
        </Text>
      )}
      {about !== '' && (
        <Text size="sm" c="dimmed" className="clamp-1" title={about}>
          {about}
        </Text>
      )}
    </div>
  )
}
