import { Stack, Text, ThemeIcon } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Icon } from './icons.tsx'

/** Explains why a part of a page has nothing to show, and what to do next. */
export function Empty({
  icon: IconOf,
  title,
  children,
  action,
}: {
  icon: Icon
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" ta="center">
      <ThemeIcon size={48} radius="xl" variant="light" color="gray">
        <IconOf size={24} />
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text size="sm" c="dimmed" maw={440}>
          {children}
        </Text>
      )}
      {action !== undefined && <div className="empty-action">{action}</div>}
    </Stack>
  )
}
