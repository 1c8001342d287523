import { Anchor, Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { IconChevronLeft } from './icons.tsx'

interface PageProps {
  title: string
  /** One sentence about the page. */
  description?: ReactNode
  /** The page that this one is a part of. */
  parent?: { href: string; label: string }
  /** Beside the title: a status. */
  badge?: ReactNode
  /** Buttons at the end of the title's line. */
  actions?: ReactNode
  children: ReactNode
}

/** The frame of every page: title, description, actions. Its heading receives the focus when the page opens. */
export function Page({ title, description, parent, badge, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Posthorn`
  }, [title])
  useEffect(() => {
    if (isFirst) isFirst = false
    else heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <Stack gap="lg">
      <Box>
        {parent !== undefined && (
          <Anchor component={Link} href={parent.href} size="sm" className="page-parent">
            <IconChevronLeft size={14} /> {parent.label}
          </Anchor>
        )}
        <Group justify="space-between" align="flex-start" gap="md">
          <Box className="page-title">
            <Group gap="sm">
              <Title order={1} size="h2" ref={heading} tabIndex={-1}>
                {title}
              </Title>
              {badge}
            </Group>
            {description !== undefined && (
              <Text c="dimmed" size="sm" mt={4} maw={720}>
                {description}
              </Text>
            )}
          </Box>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
      </Box>
      {children}
    </Stack>
  )
}

/** The first page leaves the focus where the browser put it. */
let isFirst = true
