// Rows that are packed in the page, part after part, while the first ones can be worked on.
const lopsMore = async (parts, add) => {
  for (const part of parts) {
    const bytes = Uint8Array.from(atob(part), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    add(JSON.parse(await new Response(stream).text()));
    await new Promise((resume) => setTimeout(resume)); // the page answers in between
  }
};
