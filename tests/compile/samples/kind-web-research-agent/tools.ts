import { tool } from "llm-do";
import { z } from "zod";

export const search_web = tool({ input: z.object({ query: z.string() }), run: ({ query }) => [`https://example.com/${query}`] });

export const fetch_page = tool({ input: z.object({ url: z.url() }), run: ({ url }) => `the text of ${url}` });

export const generate_slug = tool({ input: z.object({ topic: z.string() }), run: ({ topic }) => topic.replaceAll(" ", "-") });
