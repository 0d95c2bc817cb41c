export interface Item {
  id: string;
  name: string;
  amount: number;
  shelf: string;
  created_at: string;
}

export type NewItem = Pick<Item, 'name' | 'amount' | 'shelf'>;

type Row<T> = { [K in keyof T]: T[K] };

export interface Database {
  public: {
    Tables: {
      items: { Row: Row<Item>; Insert: Row<NewItem>; Update: Partial<Row<Item>>; Relationships: [] };
    };
    Views: Record<never, never>;
    Functions: Record<never, never>;
  };
}
