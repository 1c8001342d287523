/** Twice the size at which the booking page shows it, and a half, for screens with small pixels. */
const MAX_SIDE = 110
/** A part of what an experience may have. */
const MAX_LENGTH = 24_000

/** The images that the booking page shows. It loads nothing from other sites. */
export const PHOTO = /^data:image\/(png|jpeg|webp);/

/** Scales an image down and returns it as a `data:` URL. Throws for a file that the browser cannot read as an image. */
export async function scaledPhoto(file: Blob): Promise<string> {
  const image = await createImageBitmap(file)
  const scale = Math.min(1, MAX_SIDE / Math.max(image.width, image.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(image.width * scale))
  canvas.height = Math.max(1, Math.round(image.height * scale))
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('The browser cannot draw.')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  image.close()
  // A browser that writes no WebP returns a PNG, which may be much larger.
  const webp = canvas.toDataURL('image/webp', 0.9)
  if (webp.length <= MAX_LENGTH) return webp
  context.globalCompositeOperation = 'destination-over'
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/jpeg', 0.85)
}
