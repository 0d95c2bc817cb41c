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

export const categories: Category[] = ['Bowls', 'Cups', 'Vases', 'Linen'];

export const products: Product[] = [
  { slug: 'harvest-bowl', name: 'Harvest bowl', category: 'Bowls', price: 48, shape: 'bowl', glaze: '#c9764f', accent: '#f0d9c4', stock: 6, description: 'A wide bowl for salads and for bread dough. The rim stays unglazed.' },
  { slug: 'morning-cup', name: 'Morning cup', category: 'Cups', price: 26, shape: 'cup', glaze: '#7f8a5a', accent: '#d9dcc0', stock: 14, description: 'Holds exactly one large coffee. The handle fits two fingers.' },
  { slug: 'meadow-vase', name: 'Meadow vase', category: 'Vases', price: 64, shape: 'vase', glaze: '#5b7a86', accent: '#cfdde0', stock: 3, description: 'A narrow neck that keeps a few wild stems upright.' },
  { slug: 'table-runner', name: 'Washed runner', category: 'Linen', price: 39, shape: 'cloth', glaze: '#d8bf96', accent: '#efe3cc', stock: 20, description: 'Heavy linen, washed with stones until it is soft. 45 by 150 cm.' },
  { slug: 'supper-plate', name: 'Supper plate', category: 'Bowls', price: 34, shape: 'plate', glaze: '#b9a58c', accent: '#ece3d4', stock: 12, description: 'Flat with a raised edge, so that the sauce stays where it is.' },
  { slug: 'espresso-cup', name: 'Little cup', category: 'Cups', price: 18, shape: 'cup', glaze: '#a6533a', accent: '#eccab7', stock: 0, description: 'For espresso, or for a spoon of salt beside the stove.' },
  { slug: 'winter-vase', name: 'Winter vase', category: 'Vases', price: 82, shape: 'vase', glaze: '#4c4a55', accent: '#d3d0d8', stock: 2, description: 'Black clay with a white ash glaze that runs down one side.' },
  { slug: 'napkins', name: 'Four napkins', category: 'Linen', price: 32, shape: 'cloth', glaze: '#8f9a7a', accent: '#dfe3d3', stock: 9, description: 'A set in moss green with mitred corners.' },
  { slug: 'soup-bowl', name: 'Soup bowl', category: 'Bowls', price: 29, shape: 'bowl', glaze: '#6d7f73', accent: '#d6e0d8', stock: 11, description: 'Deep and heavy. It keeps soup warm through a long talk.' },
];

export const price = (value: number) => `$${value.toFixed(2).replace(/\.00$/, '')}`;
