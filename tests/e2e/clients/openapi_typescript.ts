// What a client of openapi-typescript does, once its types are generated.

import createClient from "openapi-fetch";
import type { paths } from "./petstore.js";

const { API, STRANGE, KEY } = process.env;
const headers = { Authorization: `Bearer ${KEY}` };
const client = createClient<paths>({ baseUrl: API!, headers });
const strange = createClient<paths>({ baseUrl: STRANGE!, headers });
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const rex = await client.POST("/pets", {
  params: { header: { "Idempotency-Key": "1" } },
  body: { name: "Rex", categoryId: 7 },
});
for (let number = 0; number < 4; number++) {
  await client.POST("/pets", { body: { name: `Pet ${number}.`, categoryId: 7 } });
}
const petId = rex.data!.id;
const max = await client.PATCH("/pets/{petId}", { params: { path: { petId } }, body: { name: "Max" } });
const order = await client.POST("/store/orders", { body: { petId, reference: "Ada" } });

const names: string[] = [];
for (let after: number | undefined = 0; after !== undefined; ) {
  const query: { limit: number; after: number; categoryId: number } = { limit: 2, after, categoryId: 7 };
  const page = await client.GET("/pets", { params: { query } });
  names.push(...page.data!.map((pet) => pet.name));
  const following: string | undefined = /after=([0-9]+)/.exec(page.response.headers.get("Link") ?? "")?.[1];
  after = following === undefined ? undefined : Number(following);
}

let answer = await strange.GET("/pets");
while (answer.response.status === 429) {
  await wait(1000 * Number(answer.response.headers.get("Retry-After")));
  answer = await strange.GET("/pets");
}
const refused = await strange.DELETE("/pets/{petId}", { params: { path: { petId: 1 } } });
const told = [max.data!.name, order.data!.reference, names, answer.data, refused.error!.code];
console.log(JSON.stringify(told));
