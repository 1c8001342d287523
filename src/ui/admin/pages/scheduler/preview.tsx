import { Group, SegmentedControl, Text } from '@mantine/core'
import { useState } from 'react'
import { apiUrl } from '../../api/client.ts'
import type { Experience } from '../../api/types.ts'
import { Empty } from '../../parts/empty.tsx'
import { IconEyeOff } from '../../parts/icons.tsx'
import { Section } from '../../parts/section.tsx'

/** The booking page itself, in a frame as sites embed it. It shows what is saved. */
export function Preview({ experience, isDirty }: { experience: Experience; isDirty: boolean }) {
  const [width, setWidth] = useState('full')
  const [theme, setTheme] = useState('auto')
  const { slug, isActive, updatedAt } = experience
  return (
    <Section
      title="Preview"
      description={
        isDirty
          ? 'This is the saved state: save your changes to see them here.'
          : 'The booking page as it is. A booking made here is a real one.'
      }
    >
      {isActive ? (
        <>
          <Group mb="sm">
            <SegmentedControl
              aria-label="Width of the preview"
              data={[
                { value: 'full', label: 'Wide' },
                { value: 'phone', label: 'Phone' },
              ]}
              value={width}
              onChange={setWidth}
            />
            <SegmentedControl
              aria-label="Colours of the preview"
              data={[
                { value: 'auto', label: 'Automatic' },
                { value: 'light', label: 'Light' },
                { value: 'dark', label: 'Dark' },
              ]}
              value={theme}
              onChange={setTheme}
            />
          </Group>
          <iframe
            // Another key is another frame: it reads the experience again after it was saved.
            key={`${updatedAt} ${theme}`}
            title={`Booking page of ${experience.name}`}
            className="widget-preview"
            data-width={width}
            src={apiUrl(`/embed/${slug}`, { theme: theme === 'auto' ? undefined : theme })}
            // It is a page of this service. It may not leave the frame, nor open others.
            sandbox="allow-scripts allow-same-origin allow-forms"
          />
        </>
      ) : (
        <Empty icon={IconEyeOff} title="The experience is inactive">
          Its booking page does not exist for guests. Activate it under General, and save.
        </Empty>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        Pages of other origins can show it only if they are among the allowed origins.
      </Text>
    </Section>
  )
}
