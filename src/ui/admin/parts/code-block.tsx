import { Box, Paper } from '@mantine/core'
import { CopyIcon } from './copy.tsx'

/** A text of a machine: JSON, headers, a command. */
export function CodeBlock({ value, label }: { value: string; label: string }) {
  return (
    <Paper withBorder p="sm" pos="relative" className="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it. */}
      <section aria-label={label} tabIndex={0} className="json-frame">
        <pre className="json">{value}</pre>
      </section>
      <Box pos="absolute" top={6} right={6}>
        <CopyIcon value={value} label={`Copy the ${label.toLowerCase()}`} />
      </Box>
    </Paper>
  )
}

/** JSON with indentation. A text that is no JSON stays as it is. */
export function pretty(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2)
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}
