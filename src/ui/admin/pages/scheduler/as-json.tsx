import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Section } from '../../parts/section.tsx'
import type { Draft, PartProps } from './draft.ts'

/** Everything as the API takes it, also what has no field: metadata, weights of a round robin, texts by language, zones of single hours. */
export function AsJson({ draft, set }: PartProps) {
  const current = JSON.stringify(draft, null, 2)
  const [text, setText] = useState(current)
  useEffect(() => setText(current), [current])
  const parsed = parse(text)
  return (
    <Section
      title="JSON"
      description="Everything as the API takes it, also what has no field: metadata, weights, texts by language, zones of single hours."
    >
      <Stack>
        <Textarea
          aria-label="The experience as JSON"
          autosize
          minRows={12}
          maxRows={30}
          spellCheck={false}
          classNames={{ input: 'code-input' }}
          error={typeof parsed === 'string' ? parsed : undefined}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group>
          <Button
            variant="default"
            disabled={typeof parsed === 'string' || text === current}
            onClick={() => typeof parsed === 'object' && set(parsed)}
          >
            Apply to the editor
          </Button>
          <Text size="sm" c="dimmed">
            Nothing is stored until you save.
          </Text>
        </Group>
      </Stack>
    </Section>
  )
}

/** The members, or what is wrong with the text. The service checks the rest. */
function parse(text: string): Partial<Draft> | string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : 'It must be an object.'
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}
