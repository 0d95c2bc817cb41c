export type Category = 'Bowls' | 'Cups' | 'Vases' | 'Linen';
export type Shape = 'bowl' | 'cup' | 'vase' | 'plate' | 'cloth';

export interface Product {
  slug: string;
  name: string;
  category: Category;
  price: number;
  shape: Shape;
  glaze: string;
  accent: string;
  description: string;
  stock: number;
}
