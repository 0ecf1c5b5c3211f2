// In the viewer's worker: returns files as from a drop. `entries` are pairs of a path and the bytes as base64, or a number
// of zero bytes.
(entries) => {
  const bytes = (of) => typeof of === "number" ? new Uint8Array(of) : Uint8Array.fromBase64?.(of) ??
    Uint8Array.from(atob(of), (c) => c.charCodeAt(0));
  self.damaged = entries.map(([path, of]) => [path, new File([bytes(of)], "f", { lastModified: 1769349600000 })]);
}
