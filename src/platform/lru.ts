/** Bounds an LRUCache by its number of entries. Its own `max` allocates the memory of all of them at once. */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 }
}
