/** The viewer's page as a text, as bundlers can import it: what `share({ format: 'html', viewer })` takes. */
declare const viewer: string;
export default viewer;
