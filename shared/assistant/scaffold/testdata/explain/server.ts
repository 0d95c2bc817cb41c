import express, { type Request } from "express";
import type { User } from './types';
const cors = require('cors');
interface Options { port: number }
type Handler<T> = (x: T) => void;
export enum Color { Red }
const app = express();
const table: Record<string, number> = { a: 1 };
export const run = async (o: Options): Promise<void> => { };
const wrap = <T>(x: T): T => x;
app.get("/users/:id", (req, res) => res.json({}));
app.post('/users', h);
router.use("/api", api);
cache.get("key");
declare module "x";
export type { User };
export default app;
